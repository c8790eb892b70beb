// Tabs as the ARIA practices describe them: arrow keys move between them, only the chosen one is in the tab order.

import { get } from "./dom.js";
import { change, onChange, state } from "./state.js";

const NAMES = ["attention", "layers", "protocol", "compare"];

export function setUp() {
  for (const name of NAMES) get(`tab-${name}`).addEventListener("click", () => change({ tab: name }));
  get("tabs").addEventListener("keydown", (event) => {
    const moves = { ArrowRight: 1, ArrowLeft: -1, Home: -NAMES.length, End: NAMES.length };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const place = NAMES.indexOf(state().tab);
    const last = NAMES.length - 1;
    const next = event.key === "Home" ? 0 : event.key === "End" ? last : (place + moves[event.key] + NAMES.length) % NAMES.length;
    change({ tab: NAMES[next] });
    get(`tab-${NAMES[next]}`).focus();
  });
  onChange(followed);
  followed();
}

/** Show the chosen view; an address may name an unknown one. */
function followed() {
  if (NAMES.includes(state().tab)) show();
  else change({ tab: NAMES[0] });
}

function show() {
  for (const name of NAMES) {
    const chosen = state().tab === name;
    get(`tab-${name}`).setAttribute("aria-selected", chosen);
    get(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    get(`panel-${name}`).hidden = !chosen;
  }
}
