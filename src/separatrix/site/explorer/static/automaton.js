// A recurrent network as the automaton that it is: its states, and the walk of this input up to the chosen position.

import { get, svg } from "./dom.js";
import { change } from "./state.js";

const [ACROSS, DOWN, RADIUS, TOKEN] = [92, 44, 15, 22];

export function heard(look) {
  const { automaton } = look;
  get("automaton-figure").hidden = automaton === null;
  if (automaton === null) return;
  const walked = automaton.walk.slice(0, look.position + 2);
  const places = layout(automaton);
  const width = Math.max(...places.map(([x]) => x)) + ACROSS / 2;
  const height = Math.max(...places.map(([, y]) => y)) + DOWN / 2 + 6;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `The ${automaton.states.length} states of this network; the input has walked ${walked.map((each) => name(automaton, each)).join(", ")}` });
  const used = new Set(walked.slice(1).map((end, step) => `${walked[step]} ${end}`));
  const moves = automaton.moves.filter((each) => each.start !== each.end);
  // Moves of this walk come last, so that they are drawn over the others.
  for (const each of [...moves].sort((one, other) => used.has(`${one.start} ${one.end}`) - used.has(`${other.start} ${other.end}`))) drawing.append(...arrow(places, each, used.has(`${each.start} ${each.end}`)));
  automaton.states.forEach((state, number) => {
    const [x, y] = places[number];
    const now = number === walked.at(-1);
    const been = walked.includes(number);
    drawing.append(
      svg("circle", { class: now ? "now" : been ? "been" : "state", cx: x, cy: y, r: RADIUS }, svg("title", {}, `after ${state.word || "nothing"}: answers ${state.answer}`)),
      ...(state.answer === automaton.states[0].answer ? [svg("circle", { class: "double", cx: x, cy: y, r: RADIUS - 3.5 })] : []),
      svg("text", { class: now ? "now" : "", x, y: y + 4, "text-anchor": "middle" }, name(automaton, number)),
    );
  });
  const symbols = look.input.symbols;
  const tape = svg("svg", { viewBox: `0 0 ${TOKEN * symbols.length} 24`, role: "img", "aria-label": "The input; click a symbol to walk up to it", class: "tape" });
  symbols.forEach((symbol, place) => {
    const token = svg("text", { x: TOKEN * (place + 0.5), y: 17, "text-anchor": "middle", class: place === look.position ? "query" : place < look.position ? "key" : "token" }, symbol);
    token.addEventListener("click", () => change({ position: String(place) }));
    tape.append(token);
  });
  get("automaton").replaceChildren(drawing, ...(symbols.length <= 64 ? [tape] : []));
  get("automaton-caption").textContent = `The walk through the network’s ${automaton.states.length} states up to position ${look.position + 1}; double circles answer ${automaton.states[0].answer}. A state is named by the shortest input that reaches it.`;
}

const stuck = (automaton, number) => automaton.moves.every((each) => each.start !== number || each.end === number);
const name = (automaton, number) => (stuck(automaton, number) && number ? "✗" : automaton.states[number].word || "ε");

/** States by the length of their names from left to right; one that is never left is in the last column. */
function layout(automaton) {
  const columns = [];
  const last = Math.max(...automaton.states.filter((_, number) => !stuck(automaton, number)).map((each) => each.word.length)) + 1;
  automaton.states.forEach((state, number) => (columns[stuck(automaton, number) && number ? last : state.word.length] ??= []).push(number));
  const full = columns.filter((each) => each !== undefined);
  const most = Math.max(...full.map((each) => each.length));
  const places = [];
  full.forEach((column, across) => column.forEach((number, down) => { places[number] = [ACROSS * (across + 0.5), DOWN * (down + 0.5 + (most - column.length) / 2) + 4]; }));
  return places;
}

/** One move: a bent arrow from circle to circle, with its symbols where the walk uses it. */
function arrow(places, { start, end, symbols }, used) {
  const [[x1, y1], [x2, y2]] = [places[start], places[end]];
  const far = Math.hypot(x2 - x1, y2 - y1);
  const [ux, uy] = [(x2 - x1) / far, (y2 - y1) / far];
  const bend = 10;
  const [mx, my] = [(x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend];
  const [ax, ay, bx, by] = [x1 + ux * RADIUS - uy * 3, y1 + uy * RADIUS + ux * 3, x2 - ux * RADIUS - uy * 3, y2 - uy * RADIUS + ux * 3];
  const head = `M${bx - 6 * ux + 4 * uy},${by - 6 * uy - 4 * ux} L${bx},${by} L${bx - 6 * ux - 4 * uy},${by - 6 * uy + 4 * ux}`;
  const path = svg("path", { class: used ? "move used" : "move", d: `M${ax},${ay} Q${mx},${my} ${bx},${by} ${head}` }, svg("title", {}, symbols.join(" ")));
  return used ? [path, svg("text", { class: "by", x: mx - uy * 4, y: my + ux * 4 + 4, "text-anchor": "middle" }, symbols.join(" "))] : [path];
}
