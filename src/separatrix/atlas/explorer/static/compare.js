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
  onChange((now, before) => (now.tab === "compare" && before.tab !== "compare" ? load() : refresh()));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

const chosen = () => runs.find((each) => each.name === state().run) ?? runs[0];

/** Look into the store again. */
export async function load() {
  try {
    const store = await request("GET", "api/runs");
    runs = store.runs.filter((each) => each.kept_steps.length > 0);
    const reason = !store.exists || store.runs.length === 0
      ? `Nothing is recorded in ${store.store} yet. Start a run in the view “Train”: its weights are kept at several steps and can be compared here.`
      : "No recorded run kept its weights. Runs that are started in the view “Train” do.";
    get("compare-empty").textContent = reason;
  } catch (error) {
    runs = [];
    get("compare-empty").textContent = error.message;
  }
  get("compare-empty").hidden = runs.length > 0;
  get("compare-form").hidden = runs.length === 0;
  asked = "";
  if (runs.length > 0) refresh();
}

async function refresh() {
  const s = state();
  if (s.tab !== "compare" || runs.length === 0) return;
  const run = chosen();
  fill(get("run"), runs.map((each) => [each.name, `${each.task}, ${each.architecture}, N = ${each.length}, seed ${each.seed}: ${number(100 * each.accuracy)} %`]), run.name);
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
