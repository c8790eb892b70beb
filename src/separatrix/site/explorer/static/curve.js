// The margin of this input against η: at 0 and below an answer is wrong. A click on a point goes there.

import { Asker } from "./api.js";
import { fraction, get, number, svg } from "./dom.js";
import { change, input, setting, state } from "./state.js";

const [WIDE, HIGH, LEFT, TOP, BOTTOM] = [320, 150, 40, 12, 34];
const MOST = 150; // per cent of the theorem default, at the right end
const asker = new Asker("api/margins");
let shown = "";
let points = [];
let own = null;
let here = null;

/** A look at the network came back: ask for the curve if it is another network or another input. */
export async function heard(look) {
  own = look.own_gain;
  here = look.margin === null ? null : look.margin.value;
  const asked = JSON.stringify({ setting: { ...setting(), gain: null }, input: input(), layer: Number(state().layer), head: Number(state().head) });
  if (asked === shown) {
    draw();
    return;
  }
  shown = asked;
  points = [];
  get("curve-figure").hidden = true;
  if (own === null) return;
  try {
    const found = await asker.ask(JSON.parse(asked));
    if (found === null || asked !== shown) return;
    points = found.points.filter((each) => each.margin !== null);
    draw();
  } catch {
    shown = ""; // the input is refused where it is shown
  }
}

function draw() {
  get("curve-figure").hidden = points.length < 2;
  if (points.length < 2) return;
  const margins = [...points.flatMap((each) => [each.margin, each.lead ?? 0]), here ?? 0, 0];
  const [low, high] = [Math.min(...margins), Math.max(...margins)];
  const x = (percent) => LEFT + ((WIDE - LEFT - 12) * Math.min(percent, MOST)) / MOST;
  const y = (margin) => TOP + ((HIGH - TOP - BOTTOM) * (high - margin)) / Math.max(high - low, 1e-9);
  const text = (words, across, down, more = {}) => svg("text", { x: across, y: down, "text-anchor": "middle", ...more }, words);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `Margin of this input from η at ${points[0].percent} to ${points.at(-1).percent} per cent of the theorem default` });
  drawing.append(
    svg("line", { class: "zero", x1: LEFT, x2: WIDE - 8, y1: y(0), y2: y(0) }),
    text("0", LEFT - 6, y(0) + 4, { "text-anchor": "end" }),
    svg("polyline", { class: "curve", points: points.map((each) => `${x(each.percent)},${y(each.margin)}`).join(" ") }),
    svg("polyline", { class: "lead", points: points.filter((each) => each.lead !== null).map((each) => `${x(each.percent)},${y(each.lead)}`).join(" ") }),
    ...[0, 50, 100, 150].map((percent) => text(`${percent}`, x(percent), HIGH - BOTTOM + 16)),
    text("η in % of the theorem default", (LEFT + WIDE) / 2, HIGH - 3),
  );
  if (high > 0.05) drawing.append(text(number(high), LEFT - 6, TOP + 4, { "text-anchor": "end" }));
  if (low < -0.05) drawing.append(text(number(low), LEFT - 6, y(low) + 4, { "text-anchor": "end" }));
  for (const each of points) {
    const point = svg("circle", { class: each.margin > 0 ? "right" : "wrong", cx: x(each.percent), cy: y(each.margin), r: 4 }, svg("title", {}, `η at ${each.percent} %: margin ${number(each.margin)}`));
    point.addEventListener("click", () => change({ gain: each.percent === 100 ? "" : each.gain }));
    drawing.append(point);
  }
  const percent = state().gain === "" ? 100 : (100 * fraction(state().gain)) / fraction(own);
  if (here !== null) {
    const side = percent > 90 ? "end" : "start";
    drawing.append(
      svg("circle", { class: "here", cx: x(percent), cy: y(here), r: 7 }),
      text("you are here", x(percent) + (side === "end" ? -11 : 11), y(here) + (here > (low + high) / 2 ? 16 : -8), { "text-anchor": side, class: "here" }),
    );
  }
  get("curve").replaceChildren(drawing);
}
