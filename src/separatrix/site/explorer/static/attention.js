// The map of one head, and the weights of one query. Positions are counted from 0 inside and from 1 where they are shown.

import { fill, get, h, number, svg } from "./dom.js";
import { MOST_LABELS, bytes, draw, labels, mark, placeOf, valueAt } from "./map.js";
import { change, onChange } from "./state.js";

let look = null;
let data = null;

export function setUp() {
  get("layer").addEventListener("change", (event) => change({ layer: event.target.value, head: "0" }));
  get("head").addEventListener("change", (event) => change({ head: event.target.value }));
  get("position").addEventListener("input", (event) => change({ position: event.target.value }));
  const canvas = get("map");
  canvas.addEventListener("click", (event) => {
    if (look === null) return;
    const [row, column] = placeOf(canvas, look.attention.map, event);
    const kind = look.attention.kind;
    if (kind !== "pairs") change({ position: String((kind === "state" ? column : row) * look.attention.map.block) });
  });
  canvas.addEventListener("mousemove", (event) => {
    if (look === null) return;
    const { map, kind } = look.attention;
    const [row, column] = placeOf(canvas, map, event);
    const value = number(valueAt(map, data, row, column));
    const first = row * map.block + 1;
    const second = column * map.block + 1;
    canvas.title = kind === "state" ? `number ${row + 1} after position ${second}: about ${value}`
      : kind === "pairs" ? `pair (${first}, ${second}): about ${value}` : `position ${first} looks at ${second}: about ${value}`;
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  onChange((now, before) => {
    if (now.tab === "attention" && before.tab !== "attention") redraw();
  });
}

function redraw() {
  if (look !== null) draw(get("map"), look.attention.map, data);
}

export function heard(found) {
  look = found;
  data = bytes(found.attention.map);
  const { layers, layer, head, kind, map } = found.attention;
  fill(get("layer"), layers.map((each, place) => [String(place), `${place + 1} of ${layers.length}`]), layer);
  fill(get("head"), layers.length ? [...Array(layers[layer].heads).keys()].map((place) => [String(place), `${place + 1} of ${layers[layer].heads}`]) : [], head);
  const symbols = found.input.symbols;
  get("position").max = symbols.length - 1;
  get("position").value = found.position;
  get("position").setAttribute("aria-valuetext", `position ${found.position + 1}, symbol ${symbols[found.position]}`);
  get("position-value").textContent = `${found.position + 1} · ${symbols[found.position]}`;
  const recurrent = kind === "state";
  get("tab-attention").textContent = recurrent ? "States" : "Attention";
  for (const id of ["layer", "head"]) get(id).parentElement.hidden = recurrent || (layers.length < 2 && layers[0].heads < 2);
  get("map-plot").parentElement.parentElement.classList.toggle("single", recurrent);
  get("looks").hidden = recurrent;
  redraw();
  labels("map", symbols, map.block === 1 && (recurrent || map.rows === symbols.length), !recurrent);
  mark(get("map-marker"), map, kind === "pairs" ? null : found.position, kind === "state");
  get("map-caption").textContent = caption(found);
  get("map").setAttribute("aria-label", caption(found));
  showWeights(found);
}

function caption(found) {
  const { kind, layers, layer, map } = found.attention;
  const blocks = map.block > 1 ? ` Each point is the largest of ${map.block} × ${map.block} weights.` : "";
  if (kind === "state") return "The state of this recurrent network, one row for each number, after each position (across). Click a column to choose it.";
  if (kind === "pairs") return `Weights that position ${found.position + 1} gives to pairs: first element down, second across.${found.attention.dummy === null ? "" : ` The dummy pair has ${number(found.attention.dummy)}.`}`;
  const { scoring, mask } = layers[layer];
  return `Layer ${layer + 1}, ${scoring} attention${mask === "none" ? "" : `, ${mask} mask`}: position that looks (down), position looked at (across); a stronger colour is more weight.${blocks} Click a row to choose it.`;
}

function showWeights(found) {
  const { top, kind } = found.attention;
  get("arcs-figure").hidden = true;
  if (kind === "state") return;
  arcs(found);
  get("weights-heading").textContent = `Where position ${found.position + 1} (${found.input.symbols[found.position]}) looks`;
  const most = Math.max(...top.map((each) => Math.abs(each.weight)), 1e-12);
  // Softmax weights below a step of the arithmetic are 0; a row for each says nothing.
  const rows = top.filter((each, place) => place === 0 || each.weight !== 0).map((each) => {
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * Math.abs(each.weight)) / most}%`;
    const keys = each.keys.map((key) => `${key + 1}\u00a0·\u00a0${found.input.symbols[key]}`).join(" and ");
    return h("tr", {}, h("td", {}, keys), h("td", { class: "number" }, number(each.weight)), h("td", {}, bar));
  });
  get("weights").replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, kind === "pairs" ? "pair" : "position"), h("th", { scope: "col", class: "number" }, "weight"), h("th", { scope: "col" }, "share"))), h("tbody", {}, ...rows)));
}

const STEP = 28;
const WIDE = 16 * STEP;
const HIGH = 92;
const FAINT = 0.05;

/** Arcs from the chosen position to the keys that it attends to, above the tokens of the input. */
function arcs(found) {
  const symbols = found.input.symbols;
  const { layers, layer, head } = found.attention;
  get("arcs-figure").hidden = symbols.length > MOST_LABELS;
  get("arcs-caption").textContent = `Where position ${found.position + 1} (${symbols[found.position]}) looks in layer ${layer + 1} of ${layers.length}, head ${head + 1}`;
  // Of a long input, positions that are not looked at are dots, so that the others can be read.
  const step = Math.min(STEP, WIDE / symbols.length);
  const place = (position) => step * (position + 0.5);
  const drawing = svg("svg", { viewBox: `0 0 ${step * symbols.length} ${HIGH + 22}`, role: "img", "aria-label": `Arcs from position ${found.position + 1} to the positions that it attends to` });
  for (const { keys, weight } of found.attention.top.filter((each) => each.weight > FAINT)) {
    for (const key of keys) {
      const [from, to] = [place(found.position), place(key)];
      const height = key === found.position ? 24 : Math.min(HIGH - 8, 20 + Math.abs(to - from) / 3);
      const path = key === found.position ? `M${from - 6},${HIGH} C${from - 14},${HIGH - height} ${from + 14},${HIGH - height} ${from + 6},${HIGH}` : `M${from},${HIGH} C${from},${HIGH - height * 1.3} ${to},${HIGH - height * 1.3} ${to},${HIGH}`;
      drawing.append(svg("path", { class: "arc", d: path, "stroke-width": 1 + 4 * weight, "stroke-opacity": 0.25 + 0.75 * weight }));
    }
  }
  const looked = new Set(found.attention.top.filter((each) => each.weight > FAINT).flatMap((each) => each.keys));
  symbols.forEach((symbol, position) => {
    const kind = position === found.position ? "query" : looked.has(position) ? "key" : "token";
    const token = kind === "token" && step < STEP / 2
      ? svg("circle", { cx: place(position), cy: HIGH + 11, r: 2.5, class: kind })
      : svg("text", { x: place(position), y: HIGH + 16, "text-anchor": "middle", class: kind }, symbol);
    token.addEventListener("click", () => change({ position: String(position) }));
    drawing.append(token);
  });
  get("arcs").replaceChildren(drawing);
}
