// The box on top: what is proved for every input.

import { Asker } from "./api.js";
import { fraction, get, h, number, power, words } from "./dom.js";
import { decided } from "./phases.js";
import { change, setting } from "./state.js";

const asker = new Asker("api/verdict");
const seeker = new Asker("api/threshold");
const WORDS = { certified: "✓ certified", refuted: "✗ refuted", undecided: "? not proved", failed: "! no verdict", waiting: "… deciding" };

function shows(name, reason) {
  get("verdict").dataset.state = name;
  // The line is announced when it changes; writing the same text again would announce it again.
  for (const [id, text] of [["word", WORDS[name]], ["reason", reason]]) if (get(id).textContent !== text) get(id).textContent = text;
  // On narrow screens the box may be out of sight while a slider moves.
  get("mini").dataset.state = name;
  get("mini").firstElementChild.textContent = WORDS[name];
}

export function setUp() {
  get("cancel").addEventListener("click", () => {
    asker.cancel();
    get("busy").hidden = true;
    shows("failed", "cancelled; move a slider to ask again");
  });
  get("threshold").addEventListener("click", seek);
}

function busy(seconds) {
  get("busy").hidden = false;
  get("busy-text").textContent = `proving · ${seconds.toFixed(1)} s`;
}

/** Ask for the verdict on what is chosen now. */
export async function decide() {
  const waiting = setTimeout(() => shows("waiting", ""), 250);
  try {
    const found = await asker.ask({ setting: setting() }, busy);
    if (found === null) return;
    show(found);
    decided(found);
  } catch (error) {
    shows("failed", error.message);
    get("covered").textContent = "–";
    get("method").textContent = "–";
    get("counterexample").hidden = true;
    get("reproduce").hidden = true;
  } finally {
    clearTimeout(waiting);
    if (asker.controller === null) get("busy").hidden = true;
  }
}

function show(found) {
  shows(found.state, found.state === "certified" ? "no input of this length is answered wrongly" : found.reason);
  get("verdict").dataset.seconds = found.seconds;
  get("covered").replaceChildren(...(found.state === "certified" ? power(found.inputs_covered) : ["–"]));
  get("method").textContent = `${found.method} · ${number(found.seconds)} s`;
  get("command").replaceChildren(...words(found.command));
  get("reproduce").hidden = false;
  const box = get("counterexample");
  const broken = found.counterexample;
  box.hidden = broken === null;
  if (broken === null) return;
  const run = () => change({ text: broken.text, position: "" });
  box.replaceChildren(
    h("p", {}, `An input that is answered wrongly: the network says ${broken.given}, right is ${broken.expected}` + (broken.answers > 1 ? ` (${broken.wrong_answers} of ${broken.answers} answers are wrong).` : ".")),
    h("code", { id: "broken-input", tabindex: "0", role: "region", "aria-label": "The input that breaks the claim" }, broken.text),
    h("button", { type: "button", id: "run-broken", onclick: run }, "Run this input"),
  );
}

/** What one input showed. */
export function heard(look) {
  get("margin").textContent = look.margin === null ? "–" : `${number(look.margin.value)} at position ${look.margin.position + 1}`;
  const lead = look.attention.lead;
  get("lead").parentElement.hidden = lead === null;
  get("lead").textContent = lead === null ? "–" : `${number(lead.value)} at position ${lead.position + 1}`;
  const size = look.size;
  get("size").textContent = `${size.layers} layer${size.layers === 1 ? "" : "s"}, ${size.heads === 0 ? "" : `${size.heads} head${size.heads === 1 ? "" : "s"}, `}width ${size.width}, ${number(size.size_bits)} bits`;
  const known = look.answers.filter((each) => each.right !== null);
  const right = known.filter((each) => each.right).length;
  const only = look.answers.length === 1 && !look.not_run ? look.answers[0] : null;
  const box = get("answer");
  if (only !== null) box.replaceChildren(only.given, only.right === null ? "" : only.right ? h("span", { class: "right" }, " ✓") : h("span", { class: "wrong" }, ` ✗ (right: ${only.expected})`));
  else box.replaceChildren(known.length === 0 ? "–" : h("span", { class: right === known.length ? "right" : "wrong" }, `${right} of ${known.length} right` + (look.not_run ? `, ${look.not_run} not run` : "")));
}

/** The input could not be run. */
export function unheard() {
  for (const id of ["margin", "lead", "answer"]) get(id).textContent = "–";
}

async function seek() {
  const box = get("threshold-result");
  const stop = h("button", { type: "button", class: "link", onclick: () => { seeker.cancel(); box.textContent = "cancelled"; } }, "cancel");
  const running = (seconds) => box.replaceChildren(`searching · ${seconds.toFixed(1)} s `, stop);
  box.replaceChildren("searching ", stop);
  try {
    const found = await seeker.ask({ setting: { ...setting(), gain: null } }, running);
    if (found === null) return;
    const use = h("button", { type: "button", class: "link", onclick: () => change({ gain: found.smallest_gain }) }, "use it");
    const below = h("button", { type: "button", class: "link", onclick: () => change({ gain: found.tried_below }) }, "use the one below");
    box.replaceChildren(`Certified down to ${number(fraction(found.smallest_gain))}, ${Math.round(100 * found.share)} % of the theorem default; at ${number(fraction(found.tried_below))} it is not. `, use, below);
  } catch (error) {
    box.textContent = error.message;
  }
}

/** Forget the smallest η of another network. */
export function forget(before) {
  const [now, then] = [setting(), setting(before)].map((each) => JSON.stringify({ ...each, gain: null }));
  if (now !== then) {
    seeker.cancel();
    get("threshold-result").textContent = "";
  }
}
