// The page: loads the catalog, joins the views, and asks the server whenever something that matters has changed.

import { Asker, request } from "./api.js";
import * as attention from "./attention.js";
import * as automaton from "./automaton.js";
import * as compare from "./compare.js";
import * as controls from "./controls.js";
import * as curve from "./curve.js";
import { debounced, get } from "./dom.js";
import * as layers from "./layers.js";
import * as phases from "./phases.js";
import * as protocol from "./protocol.js";
import { input, onChange, setting, state } from "./state.js";
import * as tabs from "./tabs.js";
import * as tour from "./tour.js";
import * as verdict from "./verdict.js";
import * as words from "./words.js";

const QUIET = 40; // milliseconds without a movement of a slider before the server is asked
const looker = new Asker("api/look");
let askedSetting = "";
let askedLook = "";
let looked = Promise.resolve();
let decided = Promise.resolve();
let changes = 0;

/** Ask about what is chosen now; the page is marked as busy until everything that was asked is shown. */
async function ask() {
  const asked = changes;
  await Promise.all([look(), decide()]);
  if (asked === changes) delete document.body.dataset.busy;
}

function look() {
  const s = state();
  const number = (text) => (text === "" ? null : Number(text));
  const question = { setting: setting(), input: input(), position: number(s.position), layer: Number(s.layer), head: Number(s.head) };
  const text = JSON.stringify(question);
  if (text !== askedLook) {
    askedLook = text;
    looked = showLook(question);
  }
  return looked;
}

async function showLook(question) {
  const started = performance.now();
  try {
    const found = await looker.ask(question);
    if (found === null) return;
    for (const view of [controls, verdict, attention, automaton, curve, layers, phases]) view.heard(found);
    get("look-error").hidden = true;
    document.body.dataset.look = Math.round(performance.now() - started);
  } catch (error) {
    askedLook = "";
    verdict.unheard();
    get("look-error").textContent = error.message;
    get("look-error").hidden = false;
  }
}

function decide() {
  const text = JSON.stringify(setting());
  if (text !== askedSetting) {
    askedSetting = text;
    decided = showVerdict(text);
  }
  return decided;
}

async function showVerdict(text) {
  const started = performance.now();
  await verdict.decide();
  if (askedSetting === text) document.body.dataset.verdict = Math.round(performance.now() - started);
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    get("shared").textContent = "copied";
  } catch {
    get("shared").textContent = "copy the address of this page";
  }
  setTimeout(() => { get("shared").textContent = ""; }, 3000);
}

async function begin() {
  let catalog;
  try {
    catalog = await request("GET", "api/catalog");
  } catch (error) {
    get("broken").textContent = error.message;
    get("broken").hidden = false;
    return;
  }
  words.setUp(catalog);
  controls.setUp(catalog);
  tabs.setUp();
  verdict.setUp();
  attention.setUp();
  layers.setUp();
  protocol.setUp(catalog);
  compare.setUp(catalog);
  phases.setUp();
  tour.setUp();
  get("share").addEventListener("click", share);
  const linked = () => {
    get("atlas-link").href = `atlas/tasks/${catalog.constructions.find((each) => each.name === state().construction)?.task}.html`;
  };
  get("atlas-link").hidden = !catalog.atlas;
  linked();
  const soon = debounced(ask, QUIET);
  onChange((now, before) => {
    changes += 1;
    document.body.dataset.busy = "yes";
    verdict.forget(before);
    linked();
    soon();
  });
  document.body.dataset.busy = "yes";
  ask();
  if (state().tab === "protocol") protocol.refresh();
  if (state().tab === "compare") compare.load();
  document.body.dataset.ready = "yes";
}

begin();
