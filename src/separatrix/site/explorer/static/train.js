// Start a small run, watch its curve as it grows, stop it, and see what is in the store.

import { Asker, events, request } from "./api.js";
import { chart } from "./chart.js";
import { fill, get, h, number } from "./dom.js";
import { choose } from "./controls.js";
import { change, onChange, state } from "./state.js";
import { meaning } from "./words.js";

const NUMBERS = ["length", "layers", "width", "steps", "batch", "seed"];
const MOST_FAILURES = 10;
const OVER = ["ended", "stopped", "failed"];
const architectures = new Asker("api/architectures", "GET");
let catalog = null;
let loaded = false;
let watching = null;
let training = null;
let points = [];

export function setUp(given) {
  catalog = given;
  const limits = catalog.limits;
  fill(get("t-task"), catalog.tasks.map((each) => [each.name, each.title]), "index-lookup");
  get("train-hint").textContent = `This server allows N up to ${Math.min(limits.max_training_length, limits.max_length)}, ${limits.max_steps.toLocaleString("en")} steps, width ${limits.max_width}, ${limits.max_layers} layers, batch ${limits.max_batch} and ${number(limits.max_training_seconds / 60)} minutes; larger runs: separatrix train. A run that was stopped goes on when it is started again.`;
  get("train-form").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  get("train-stop").addEventListener("click", stop);
  onChange((now, before) => {
    if (now.tab === "train" && before.tab !== "train") open();
  });
}

/** The view was opened: offer architectures, find a run that is under way, list the store. */
export async function open() {
  listRuns();
  if (loaded) return;
  loaded = true;
  try {
    get("t-architecture").replaceChildren(h("option", {}, "loading…"));
    const found = await architectures.ask(undefined);
    fill(get("t-architecture"), found.architectures.map((each) => [each.short, each.title]), "TF");
    const running = (await request("GET", "api/training")).trainings.find((each) => !OVER.includes(each.state));
    if (running !== undefined) watch(running);
  } catch (error) {
    loaded = false;
    says(error.message);
  }
}

const says = (text) => {
  get("train-state").textContent = text;
};

async function start() {
  const body = { task: get("t-task").value, architecture: get("t-architecture").value, learning_rate: Number(get("t-learning_rate").value) };
  for (const name of NUMBERS) body[name] = Number(get(`t-${name}`).value);
  body.evaluate_every = Math.max(1, Math.round(body.steps / 20));
  try {
    says("starting…");
    get("train-start").disabled = true;
    watch(await request("POST", "api/training", body));
  } catch (error) {
    says(error.message);
    get("train-start").disabled = false;
  }
}

async function stop() {
  if (training === null) return;
  get("train-stop").disabled = true;
  try {
    await request("DELETE", `api/training/${training.training}`);
    says("stopping: its state is being saved…");
  } catch (error) {
    says(error.message);
  }
}

/** Follow a run to its end; a lost connection is taken up again where it broke. */
async function watch(run) {
  watching?.abort();
  const controller = new AbortController();
  watching = controller;
  training = run;
  points = [];
  get("train-start").disabled = true;
  get("train-stop").disabled = false;
  show();
  let last = null;
  let failures = 0;
  while (!OVER.includes(training.state) && failures < MOST_FAILURES && !controller.signal.aborted) {
    try {
      for await (const event of events(`api/training/${run.training}/events`, controller.signal, last)) {
        failures = 0;
        last = event.id ?? last;
        hear(event);
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      failures += error.kind === "missing" ? MOST_FAILURES : 1;
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
  }
  if (!OVER.includes(training.state)) over("the connection to the server was lost");
}

function hear({ name, data }) {
  training = { ...training, ...data };
  if (name === "point" && !points.some((each) => each.step === data.step)) points.push(data);
  show();
  if (name === "said") says(data.message);
  else if (name === "ended") over(`${data.recorded_before ? "recorded before" : "done"}: ${number(100 * data.accuracy)} % after ${data.step.toLocaleString("en")} steps (${ENDINGS[data.ending] ?? data.ending})`);
  else if (name === "stopped") over(data.message ?? "stopped; its state is saved, the same run goes on from there");
  else if (name === "failed") over(data.message ?? "failed");
}

const ENDINGS = { goal: "it reached its goal", steps: "all steps done", diverged: "its loss was no number", pruned: "pruned", beaten: "beaten" };

function over(text) {
  watching = null;
  says(text);
  get("train-start").disabled = false;
  get("train-stop").disabled = true;
  listRuns();
}

function show() {
  get("chart").replaceChildren(chart(points, training.steps));
  get("train-figure").dataset.points = points.length;
  get("chart-caption").textContent = `${training.architecture} on ${training.task}, N = ${training.length}, step ${training.step.toLocaleString("en")} of ${training.steps.toLocaleString("en")}${training.run ? `, run ${training.run}` : ""}`;
  if (watching !== null && training.state === "starting") says("starting: loading torch…");
  else if (watching !== null && training.state === "running") says(`training: ${training.step.toLocaleString("en")} of ${training.steps.toLocaleString("en")} steps`);
}

/** Show a run beside a construction of its task, where there is one. */
function compareWith(run) {
  const fits = catalog.constructions.find((each) => each.task === run.task);
  const own = catalog.constructions.find((each) => each.name === state().construction);
  if (fits !== undefined && own?.task !== run.task) choose(fits.name);
  change({ tab: "compare", run: run.name, step: "", rival: "" });
}

async function listRuns() {
  const box = get("runs");
  try {
    const store = await request("GET", "api/runs");
    if (store.runs.length === 0) {
      box.replaceChildren(h("p", { class: "notice" }, `Nothing is recorded in ${store.store} yet.`));
      return;
    }
    const titles = ["run", "task", "model", "N", "learning rate", "seed", "accuracy", "steps", "ended", "weights"];
    const right = ["N", "learning rate", "seed", "accuracy", "steps"];
    const head = titles.map((title) => h("th", { scope: "col", class: right.includes(title) ? "number" : null, title: title === "ended" ? `Goal: ${meaning("goal")}.` : null }, title));
    const rows = store.runs.slice(0, 50).map((each) => h("tr", { "data-run": each.name },
      h("td", {}, h("code", {}, each.name.slice(0, 8))), h("td", {}, each.task), h("td", {}, each.architecture), h("td", { class: "number" }, String(each.length)),
      h("td", { class: "number" }, String(each.learning_rate)), h("td", { class: "number" }, String(each.seed)), h("td", { class: "number" }, `${(100 * each.accuracy).toFixed(1)} %`), h("td", { class: "number" }, each.step.toLocaleString("en")),
      h("td", {}, ENDINGS[each.ending] ?? each.ending),
      h("td", {}, each.kept_steps.length ? h("button", { type: "button", class: "link", onclick: () => compareWith(each) }, `compare (${each.kept_steps.length} steps)`) : "not here")));
    const more = store.runs.length - 50 + store.more;
    box.replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs in the store" }, h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))), ...(more > 0 ? [h("p", { class: "hint" }, `and ${more} older ones; see  separatrix runs list`)] : []));
  } catch (error) {
    box.replaceChildren(h("p", { class: "notice" }, error.message));
  }
}
