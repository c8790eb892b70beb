// A training curve: accuracy and loss over steps, as a drawing with words for those who cannot see it.

import { number, svg } from "./dom.js";

const WIDE = 720;
const HIGH = 280;
const LEFT = 48;
const RIGHT = 56;
const TOP = 24;
const BOTTOM = 36;

export function chart(points, steps) {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": words(points) });
  const across = (step) => LEFT + ((WIDE - LEFT - RIGHT) * step) / Math.max(1, steps);
  const up = (share) => HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * share;
  const losses = points.map((each) => each.loss).filter((each) => each !== null);
  const most = Math.max(...losses, 1e-9);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    drawing.append(svg("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: up(share), y2: up(share) }));
    drawing.append(svg("text", { x: LEFT - 6, y: up(share) + 4, "text-anchor": "end" }, `${100 * share} %`));
    if (losses.length) drawing.append(svg("text", { x: WIDE - RIGHT + 6, y: up(share) + 4 }, number(most * share)));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    drawing.append(svg("text", { x: across(steps * share), y: HIGH - BOTTOM + 18, "text-anchor": "middle" }, Math.round(steps * share).toLocaleString("en")));
  }
  drawing.append(svg("text", { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 4, "text-anchor": "middle" }, "steps"));
  drawing.append(svg("text", { class: "accuracy-label", x: LEFT, y: 14 }, "accuracy (solid)"));
  drawing.append(svg("text", { class: "loss-label", x: WIDE - RIGHT, y: 14, "text-anchor": "end" }, "loss (dashed)"));
  const line = (kind, height) => {
    const places = points.filter((each) => height(each) !== null).map((each) => `${across(each.step).toFixed(1)},${up(height(each)).toFixed(1)}`);
    if (places.length) drawing.append(svg("polyline", { class: kind, points: (places.length === 1 ? [...places, places[0]] : places).join(" "), "stroke-linecap": "round" }));
  };
  line("loss", (each) => (each.loss === null ? null : each.loss / most));
  line("accuracy", (each) => each.accuracy);
  return drawing;
}

function words(points) {
  if (points.length === 0) return "No points yet";
  const last = points[points.length - 1];
  return `${points.length} points; after ${last.step} steps accuracy ${number(100 * last.accuracy)} per cent, loss ${number(last.loss)}`;
}
