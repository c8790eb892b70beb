// A guided tour in seven steps, from a network that works to the input that breaks it.

import { get } from "./dom.js";
import { reset } from "./state.js";
import { withErrata } from "./words.js";

// Each step: what is chosen, where to look, and what to see there.
const STEPS = [
  [{}, "verdict", "It works. This network says whether the two halves of an input are equal. The green box is a proof for every input of this length, not a sample."],
  [{ position: "15" }, "arcs-figure", "How: in layer 1 each position of the second half looks at its partner in the first. The arc shows it for the last position; click another token to see where that one looks."],
  [{ position: "15", tab: "layers" }, "panel-layers", "What it carries: the slots of that position after every step. Layer 1 compares two symbols, layer 2 collects the differences."],
  [{ gain: "15/4" }, "phases-box", "Turn the score scale η down to 60 %: attention gets less sharp, and the checker finds an input with a wrong answer. The map shows the border between green and red; in one row fewer bits are still green here, because rounding can help."],
  [{ gain: "15/4", text: "0000000100000001" }, "one-input", "Run that input: the halves are equal, and the network says they are not."],
  [{ variant: "paper" }, "verdict", "The proof as it is printed, at its full η, fails as well, and one input shows it. The repaired proof is the one you began with (E2, E3)."],
  [{ construction: "disjointness", exponent: "1" }, "verdict", "Last, precision: this network for set disjointness is certified with Kc = 2. One step less, and here is the input that breaks it. Now choose another construction."],
];
let place = 0;

export function setUp() {
  get("tour-start").addEventListener("click", () => show(0));
  get("tour-back").addEventListener("click", () => show(place - 1));
  get("tour-next").addEventListener("click", () => (place + 1 < STEPS.length ? show(place + 1) : close()));
  get("tour-close").addEventListener("click", close);
}

function show(step) {
  place = step;
  const [values, where, text] = STEPS[step];
  get("tour").hidden = false;
  get("tour-text").replaceChildren(`${step + 1} of ${STEPS.length}. `, ...withErrata(text));
  get("tour-back").disabled = step === 0;
  get("tour-next").textContent = step + 1 < STEPS.length ? "Next" : "Done";
  reset({ construction: "equality", length: "16", ...values });
  get("tour-next").focus({ preventScroll: true });
  point(where);
}

/** Mark the part that a step speaks of, and bring it into view below the tour. */
async function point(where) {
  for (const marked of document.querySelectorAll("[data-toured]")) delete marked.dataset.toured;
  const part = where === null ? null : get(where);
  if (part === null) return;
  part.dataset.toured = "yes";
  // What is not drawn yet, or moves while answers come in, is looked for again.
  for (const wait of [0, 300, 900]) {
    await new Promise((go) => setTimeout(go, wait));
    if (!("toured" in part.dataset)) return;
    const [top, bottom] = [get("tour").offsetHeight + 12, innerHeight - 56];
    const { top: above, bottom: below } = part.getBoundingClientRect();
    if (above < top || below > bottom) scrollTo({ top: scrollY + above - top });
  }
}

function close() {
  get("tour").hidden = true;
  point(null);
  get("tour-start").focus();
}
