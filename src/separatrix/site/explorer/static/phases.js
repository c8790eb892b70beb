// The phase map: η across, precision down, each cell certified, refuted or not proved. A click goes there.

import { Asker } from "./api.js";
import { fraction, get, h, number } from "./dom.js";
import { change, setting, state } from "./state.js";

const PERCENTS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 125, 150];
const EXPONENTS = [1, 2, 3, 4, 5, 6];
const PATIENCE = 3000; // milliseconds for one cell
const MOST_SLOW = 3; // cells in a row that may take longer before the rest is left to clicks
const asker = new Asker("api/verdict");
let shown = "";
let own = null;

/** The exact η at so many per cent of the theorem default. */
export function gainAt(percent, gain) {
  const [above, below = 1] = gain.split("/").map(Number);
  const gcd = (a, b) => (b ? gcd(b, a % b) : a);
  const shared = gcd(above * percent, below * 100);
  return `${(above * percent) / shared}/${(below * 100) / shared}`;
}

export function setUp() {
  get("phases").addEventListener("click", (event) => {
    const cell = event.target.closest("button");
    if (cell) change({ gain: cell.dataset.gain, exponent: cell.dataset.exponent });
  });
  get("phases").addEventListener("keydown", (event) => {
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const cell = event.target.closest("button");
    if (!cell || !(event.key in moves)) return;
    event.preventDefault();
    const [down, across] = moves[event.key];
    const next = get("phases").querySelector(`[data-row="${Number(cell.dataset.row) + down}"][data-column="${Number(cell.dataset.column) + across}"]`);
    if (next === null) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/** The network without what the axes vary. */
const base = () => JSON.stringify({ ...setting(), gain: null, exponent: null });

/** A look at the network came back: draw the map for it, and decide its cells one after the other. */
export function heard(look) {
  own = { gain: look.own_gain, exponent: look.exponent };
  get("phases-box").hidden = state().numbers === "reals";
  if (base() !== shown) {
    shown = base();
    draw();
    fill();
  } else here();
}

function columns() {
  return own.gain === null ? [["", "–"]] : PERCENTS.map((each) => [each === 100 ? "" : gainAt(each, own.gain), `${each}`]);
}

function draw() {
  const head = h("tr", {}, h("th", { scope: "col" }, "bits"), ...columns().map(([, text]) => h("th", { scope: "col" }, text)));
  const rows = EXPONENTS.map((exponent, row) => h("tr", {}, h("th", { scope: "row", id: `phase-bits-${exponent}` }, "…"), ...columns().map(([gain, text], column) => h("td", {}, h("button", {
    type: "button", "data-gain": gain, "data-exponent": exponent === own.exponent && state().exponent === "" ? "" : exponent, "data-row": row, "data-column": column,
    "data-cell": `${gain}|${exponent}`, tabindex: row === 0 && column === 0 ? "0" : "-1", "aria-label": `η at ${text} per cent, Kc = ${exponent}`,
  })))));
  get("phases").classList.toggle("narrow", own.gain === null);
  get("phases").replaceChildren(h("thead", {}, head), h("tbody", {}, ...rows));
  get("phases-hint").textContent = own.gain === null ? "No score of this network depends on η; down: precision." : `Across: η in % of the theorem default ${number(fraction(own.gain))}. Down: bits of precision. Click to go there.`;
  here();
}

/** Mark the cell of the present setting. */
function here() {
  const gain = state().gain === "" ? 100 : own.gain === null ? 100 : (100 * fraction(state().gain)) / fraction(own.gain);
  const exponent = state().exponent === "" ? own.exponent : Number(state().exponent);
  const near = own.gain === null ? 0 : PERCENTS.reduce((best, each, place) => (Math.abs(each - gain) < Math.abs(PERCENTS[best] - gain) ? place : best), 0);
  for (const cell of get("phases").querySelectorAll("button")) {
    const chosen = Number(cell.dataset.row) + 1 === exponent && Number(cell.dataset.column) === near;
    cell.toggleAttribute("data-here", chosen);
    cell.setAttribute("aria-pressed", String(chosen));
  }
}

const WORDS = { certified: "certified", refuted: "refuted", undecided: "not proved", failed: "no verdict" };

/** Colour a cell by its verdict. */
function paint(gain, exponent, reply) {
  const cell = get("phases").querySelector(`[data-cell="${gain}|${exponent}"]`);
  if (cell === null) return;
  cell.dataset.state = reply.state;
  cell.title = `${WORDS[reply.state]}${reply.state === "certified" ? "" : `: ${reply.reason}`}`;
  cell.setAttribute("aria-label", `${cell.getAttribute("aria-label").split(":")[0]}: ${WORDS[reply.state]}`);
  if (reply.size) get(`phase-bits-${exponent}`).textContent = reply.size.precision_bits;
}

/** The verdict on the present setting. */
export function decided(reply) {
  if (own !== null && shown === base()) paint(state().gain, state().exponent || own.exponent, reply);
}

/** Decide all cells, those near the present setting first, for as long as the network stays the same. */
async function fill() {
  const wanted = shown;
  delete get("phases").dataset.done;
  let [slow, left] = [0, 0];
  const cells = EXPONENTS.flatMap((exponent) => columns().map(([gain, text]) => ({ exponent, gain, far: Math.abs(exponent - (own.exponent ?? 2)) * 20 + Math.abs(Number(text) - 100 || 0) })));
  cells.sort((one, other) => one.far - other.far);
  for (const { exponent, gain } of cells) {
    const timer = setTimeout(() => asker.cancel(), PATIENCE);
    let reply;
    try {
      reply = await asker.ask({ setting: { ...setting(), gain: gain || null, exponent } });
    } catch (error) {
      reply = { state: "failed", reason: error.message };
    }
    clearTimeout(timer);
    if (shown !== wanted) return;
    if (reply !== null) {
      slow = 0;
      paint(gain, exponent, reply);
    } else {
      left += 1;
      if ((slow += 1) === MOST_SLOW) break;
    }
  }
  if (left > 0) get("phases-hint").append(" Some verdicts take seconds: click a cell without a colour to decide it.");
  get("phases").dataset.done = "yes";
}
