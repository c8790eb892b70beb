// Recorded runs of the chosen task, and their attention next to that of a construction at every step with weights.

import { Asker, request } from "./api.js";
import { code, fill, get, h, number } from "./dom.js";
import { bytes, draw, labels, mark } from "./map.js";
import { change, input, onChange, parameters, state } from "./state.js";

const MOST_LISTED = 50;
const ENDINGS = { goal: "reached its goal", steps: "all steps done", diverged: "diverged" };
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

const comparable = () => runs.filter((each) => each.why_not === "");

const chosen = () => comparable().find((each) => each.name === state().run) ?? comparable()[0];

/** List the store again. */
export async function load() {
  const wanted = task();
  let store;
  try {
    store = await request("GET", `api/runs?task=${encodeURIComponent(wanted)}`);
  } catch (error) {
    store = { store: error.message, recorded: 0, runs: [] };
  }
  if (wanted !== task()) return;
  runs = store.runs;
  const none = comparable().length === 0;
  get("compare-empty").hidden = !none;
  get("compare-empty").textContent = `${store.store} has ${store.recorded.toLocaleString("en")} runs, none of ${wanted} with its weights. Train one, then open this view again:`;
  get("compare-form").hidden = none;
  get("train-command").replaceChildren(code(`separatrix train ${wanted} "TF-(1,64)" --length ${Math.min(Number(state().length), 64)} --lr 3e-3 --steps 2000`));
  showRuns();
  asked = "";
  refresh();
}

function showRuns() {
  const titles = ["run", "model", "N", "learning rate", "seed", "accuracy", "steps", "ended", "attention"];
  const right = ["N", "learning rate", "seed", "accuracy", "steps"];
  const rows = runs.slice(0, MOST_LISTED).map((each) => {
    const cells = [code(each.name.slice(0, 8)), each.architecture, each.length, each.learning_rate, each.seed, `${(100 * each.accuracy).toFixed(1)} %`, each.step.toLocaleString("en"), ENDINGS[each.ending] ?? each.ending,
      each.why_not || h("button", { type: "button", class: "link", onclick: () => change({ run: each.name, step: "", rival: "" }) }, "compare")];
    return h("tr", { "data-run": each.name }, ...cells.map((cell, place) => h("td", { class: right.includes(titles[place]) ? "number" : null }, cell instanceof Node ? cell : String(cell))));
  });
  const head = h("tr", {}, ...titles.map((title) => h("th", { scope: "col", class: right.includes(title) ? "number" : null }, title)));
  get("runs").hidden = runs.length === 0;
  get("runs").replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** The text of a run in the list. */
function label(each) {
  const own = Object.entries(each.parameters).map(([name, value]) => `, ${name.replaceAll("_", " ")} ${value}`).join("");
  return `${each.architecture}, N = ${each.length}${own}, learning rate ${each.learning_rate}, seed ${each.seed}: ${number(100 * each.accuracy)} % · ${each.finished_at.slice(0, 10)} · ${each.name.slice(0, 6)}`;
}

/** Ask again when the view is open and something that matters has changed. */
async function refresh() {
  const s = state();
  const run = chosen();
  if (s.tab !== "compare" || run === undefined) return;
  fill(get("run"), comparable().map((each) => [each.name, label(each)]), run.name);
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
  const stop = h("button", { type: "button", class: "link", onclick: () => { asker.cancel(); asked = ""; get("compare-summary").textContent = "cancelled"; } }, "cancel");
  try {
    const reply = await asker.ask(question, (seconds) => get("compare-summary").replaceChildren(`loading the model · ${seconds.toFixed(1)} s `, stop));
    if (reply === null) return;
    found = reply;
    show();
  } catch (error) {
    asked = "";
    found = null;
    get("compare-summary").textContent = error.message;
  }
}

/** Whether the input on the page fits this run. */
const typed = (run) => Number(state().length) === run.length && Object.keys(parameters()).length === 0;

function drawAll() {
  if (found === null) return;
  draw(get("trained-map"), found.trained, bytes(found.trained));
  if (found.constructed !== null) draw(get("constructed-map"), found.constructed.map, bytes(found.constructed.map));
}

function show() {
  const { constructed, share } = found;
  get("compare-summary").textContent = share === null
    ? "No construction of this task attends to single positions."
    : `At the query positions, the trained model gives ${number(100 * share)} % of its weight to the positions that the construction attends to.`;
  get("compare-summary").dataset.share = share ?? "";
  get("trained-caption").textContent = `${found.architecture} after ${found.step.toLocaleString("en")} steps, mean over heads; final accuracy ${number(100 * found.accuracy)} %`;
  get("constructed-map").hidden = constructed === null;
  get("constructed-caption").textContent = constructed === null ? "no construction" : `${constructed.construction}, layer ${constructed.layer + 1}, head ${constructed.head + 1}`;
  get("compare-input").textContent = `The same input for both: ${found.input.text}`;
  drawAll();
  labels("trained", found.input.symbols, true);
  labels("constructed", found.input.symbols, constructed?.kind === "positions");
  // Where one position alone is read, only its row matters.
  const read = found.read.length === 1 ? found.read[0] : null;
  mark(get("trained-marker"), found.trained, read);
  mark(get("constructed-marker"), constructed?.map, constructed?.kind === "positions" ? read : null);
}
