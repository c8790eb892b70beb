// The attention of a recorded run beside that of a construction, at any step whose weights were kept.

import { Asker, request } from "./api.js";
import { fill, get, number } from "./dom.js";
import { bytes, draw, mark } from "./map.js";
import { change, input, onChange, parameters, state } from "./state.js";

const asker = new Asker("api/comparison");
let catalog = null;
let runs = [];
let found = null;
let asked = "";

export function setUp(given) {
  catalog = given;
  get("run").addEventListener("change", (event) => change({ run: event.target.value, step: "", rival: "" }));
  get("rival").addEventListener("change", (event) => change({ rival: event.target.value }));
  get("step").addEventListener("input", (event) => change({ step: String(chosen()?.kept_steps[event.target.value] ?? "") }));
  onChange((now, before) => (now.tab === "compare" && (before.tab !== "compare" || task(now) !== task(before)) ? load() : refresh()));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

const task = (s = state()) => catalog.constructions.find((each) => each.name === s.construction)?.task;

const chosen = () => runs.find((each) => each.name === state().run) ?? runs[0];

const lists = new Asker("api/comparable", "GET");

/** Look into the store again: the runs of the chosen task whose weights are there, and one that was asked for by name. */
export async function load() {
  try {
    lists.path = `api/comparable?task=${encodeURIComponent(task())}`;
    const store = await lists.ask(undefined);
    if (store === null) return;
    runs = store.runs;
    const other = await wanted(state().run);
    if (other !== null) runs = [other, ...runs];
    get("compare-left-out").textContent = leftOut(store);
    get("compare-empty").textContent = whyNone(store);
  } catch (error) {
    runs = [];
    get("compare-empty").textContent = error.message;
  }
  get("compare-empty").hidden = runs.length > 0;
  get("compare-form").hidden = runs.length === 0;
  asked = "";
  if (runs.length > 0) refresh();
}

/** A run that the address or the view “Train” names and that is not of the chosen task; null where there is none. */
async function wanted(name) {
  if (name === "" || runs.some((each) => each.name === name)) return null;
  try {
    const found = await request("GET", `api/runs/${encodeURIComponent(name)}`);
    return found.kept_steps.length > 0 ? found : null;
  } catch {
    return null;
  }
}

const runsOf = (count) => `${count.toLocaleString("en")} run${count === 1 ? "" : "s"}`;

/** How many recorded runs are not listed, and why. */
function leftOut(store) {
  if (store.left_out.length === 0) return "";
  const reasons = store.left_out.map((each) => `${each.count.toLocaleString("en")} ${each.why}`).join(", ");
  return `Of ${runsOf(store.recorded)} in ${store.store} these are not listed: ${reasons}.`;
}

/** Why there is nothing to compare, and what to do. */
function whyNone(store) {
  if (store.recorded === 0) return `Nothing is recorded in ${store.store} yet. Start a run in the view “Train”: its weights are kept at several steps and can be compared here.`;
  const elsewhere = Object.entries(store.elsewhere).map(([name, count]) => `${runsOf(count)} of ${name}`).join(", ");
  return `No recorded run of ${task()} has its weights here. ${leftOut(store)} ${elsewhere ? `Weights are there for ${elsewhere}: choose a construction of that task. ` : ""}Runs that are started in the view “Train” keep theirs.`;
}

/** What tells one run from another. */
function label(each) {
  const own = Object.entries(each.parameters).map(([name, value]) => `, ${name.replaceAll("_", " ")} ${value}`).join("");
  return `${each.task === task() ? "" : `${each.task}, `}${each.architecture}, N = ${each.length}${own}, learning rate ${each.learning_rate}, ${each.step.toLocaleString("en")} steps, seed ${each.seed}: ${number(100 * each.accuracy)} % · ${each.finished_at.slice(0, 10)} · ${each.name.slice(0, 6)}`;
}

async function refresh() {
  const s = state();
  if (s.tab !== "compare" || runs.length === 0) return;
  const run = chosen();
  fill(get("run"), runs.map((each) => [each.name, label(each)]), run.name);
  const rivals = catalog.constructions.filter((each) => each.task === run.task).map((each) => each.name);
  fill(get("rival"), [["", "first that fits"], ...rivals.map((each) => [each, each])], s.rival);
  const steps = run.kept_steps;
  const place = s.step === "" ? steps.length - 1 : Math.max(0, steps.indexOf(Number(s.step)));
  get("step").max = steps.length - 1;
  get("step").value = place;
  get("step").disabled = steps.length < 2;
  get("step").setAttribute("aria-valuetext", `step ${steps[place]}`);
  get("step-value").textContent = `after ${steps[place].toLocaleString("en")} of ${run.step.toLocaleString("en")} steps`;
  const question = { run: run.name, step: steps[place], construction: rivals.includes(s.rival) ? s.rival : null, input: typed(run) ? input() : { text: null, seed: Number(s.seed) } };
  if (JSON.stringify(question) === asked) return;
  asked = JSON.stringify(question);
  try {
    const reply = await asker.ask(question, (told) => {
      get("compare-summary").textContent = `${told.what ?? "computing"} · ${told.seconds.toFixed(1)} s`;
    });
    if (reply === null) return;
    found = reply;
    show();
  } catch (error) {
    asked = "";
    found = null;
    get("compare-summary").textContent = error.message;
  }
}

/** Whether what was typed is an input of this run as well. */
function typed(run) {
  const own = catalog.constructions.find((each) => each.name === state().construction);
  return own?.task === run.task && Number(state().length) === run.length && Object.keys(parameters()).length === 0;
}

function drawAll() {
  if (found === null) return;
  draw(get("trained-map"), found.trained.map, bytes(found.trained.map));
  if (found.constructed !== null) draw(get("constructed-map"), found.constructed.map, bytes(found.constructed.map));
}

function show() {
  const { constructed, share } = found;
  const summary = share === null
    ? "There is no construction with attention to single positions for this task to compare with."
    : `Where answers are read, the trained model gives ${number(100 * share)} % of its weight to the positions that the construction looks at.`;
  get("compare-summary").textContent = summary;
  get("compare-summary").dataset.share = share ?? "";
  get("trained-caption").textContent = `${found.architecture} after ${found.step.toLocaleString("en")} steps, mean over heads; final accuracy ${number(100 * found.accuracy)} %`;
  get("constructed-map").hidden = constructed === null;
  get("constructed-caption").textContent = constructed === null ? "no construction" : `${constructed.construction}, layer ${constructed.layer + 1}, head ${constructed.head + 1}`;
  get("compare-input").textContent = `The same input for both: ${found.input.text}`;
  drawAll();
  // Where one position alone is read, only its row matters.
  const read = found.read.length === 1 ? found.read[0] : null;
  mark(get("trained-marker"), found.trained.map, read);
  mark(get("constructed-marker"), constructed?.map, constructed?.kind === "positions" ? read : null);
}
