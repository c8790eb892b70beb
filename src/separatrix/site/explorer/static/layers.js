// One position's slots after every step of the network, one step at a time.

import { get, h, number } from "./dom.js";
import { colours, mix } from "./map.js";
import { change } from "./state.js";

const FEW = 4;
let look = null;
let shown = Infinity;

export function setUp() {
  get("stage-first").addEventListener("click", () => step(1));
  get("stage-back").addEventListener("click", () => step(Math.max(1, Math.min(shown, count()) - 1)));
  get("stage-next").addEventListener("click", () => step(shown >= count() ? 1 : shown + 1));
  get("stage-all").addEventListener("click", () => step(Infinity));
  get("symbols").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) change({ position: button.dataset.position });
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showStages);
}

const count = () => (look === null ? 0 : look.stages.length);

function step(number) {
  shown = number;
  showStages();
}

export function heard(found) {
  const focused = document.activeElement?.closest("#symbols") !== null && document.activeElement?.dataset.position;
  look = found;
  const read = new Set(found.answers.map((each) => each.position));
  get("symbols").replaceChildren(...found.input.symbols.map((symbol, place) => h("button", {
    type: "button", "data-position": place, "aria-pressed": place === found.position, class: read.has(place) ? "read" : null,
    title: `position ${place + 1}: ${symbol}${read.has(place) ? ", read" : ""}`, "aria-label": `position ${place + 1}: ${symbol}`,
  }, symbol)));
  // Keep the keyboard where it was.
  if (focused) get("symbols").querySelector(`[data-position="${focused}"]`)?.focus();
  showStages();
  showAnswers();
}

function cell(name, values, low, high, below) {
  const spread = Math.max(...values.map(Math.abs), 1e-12);
  const numbers = values.map(number);
  if (values.length <= FEW) return h("span", { class: "numbers" }, numbers.join("  "));
  const strip = h("span", { class: "cells", role: "img", "aria-label": `${name}: ${numbers.slice(0, 12).join(", ")}${numbers.length > 12 ? " …" : ""}` });
  values.forEach((value, place) => {
    const box = h("i", { title: `${name}[${place}] = ${numbers[place]}` });
    box.style.background = `rgb(${mix(low, value < 0 ? below : high, Math.abs(value) / spread).join(",")})`;
    strip.append(box);
  });
  return strip;
}

function showStages() {
  if (look === null) return;
  const { low, high, below } = colours();
  const names = [...new Set(look.stages.flatMap((stage) => Object.keys(stage.slots)))];
  const state = (place) => (shown === Infinity ? null : place + 1 === shown ? "now" : place + 1 > shown ? "later" : null);
  const head = h("tr", {}, h("th", { scope: "col" }, "slot"), ...look.stages.map((stage) => h("th", { scope: "col" }, stage.title)));
  const rows = names.map((name) => h("tr", {}, h("th", { scope: "row" }, name), ...look.stages.map((stage, place) => {
    const values = stage.slots[name];
    const hidden = state(place) === "later";
    return h("td", { class: state(place) }, values === undefined || hidden ? "" : cell(name, values, low, high, below));
  })));
  get("stages").replaceChildren(h("thead", {}, head), h("tbody", {}, ...rows));
  get("stage-text").textContent = shown === Infinity ? "" : `${Math.min(shown, count())} of ${count()}: ${about(look.stages[Math.min(shown, count()) - 1])}`;
}

function about(stage) {
  const symbol = look.input.symbols[look.position];
  if (stage.kind === "embedding") return `the symbol ${symbol} at position ${look.position + 1} becomes numbers`;
  if (stage.kind === "attention") return `${stage.title}: the position gathers values from where it looks`;
  if (stage.kind === "feed-forward") return `${stage.title}: ReLU units at this position alone`;
  if (stage.kind === "state") return "the state after this position";
  return "what is read from the stream";
}

function showAnswers() {
  const rows = look.answers.slice(0, 200).map((each) => h("tr", {},
    h("td", { class: "number" }, String(each.position + 1)), h("td", {}, look.input.symbols[each.position]), h("td", {}, each.given),
    h("td", {}, each.expected ?? "unknown"), h("td", { class: each.right === false ? "wrong" : "right" }, each.right === null ? "" : each.right ? "✓ right" : "✗ wrong")));
  const titles = ["position", "symbol", "network", "right answer", ""].map((title, place) => h("th", { scope: "col", class: place === 0 ? "number" : null }, title || h("span", {}, "verdict")));
  const rest = look.not_run ? [h("p", { class: "hint" }, `${look.not_run} more positions were not run: each attends to all pairs of positions. Choose one above to run it.`)] : [];
  get("answers").replaceChildren(...rest, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers" }, h("table", {}, h("thead", {}, h("tr", {}, ...titles)), h("tbody", {}, ...rows))));
}
