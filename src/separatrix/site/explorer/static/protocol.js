// Alice and Bob compute the network by exchanging bits: choose who holds what, then go through the messages.

import { Asker } from "./api.js";
import { bits, fill, get, h, markup } from "./dom.js";
import { change, input, onChange, setting, state } from "./state.js";
import { withErrata } from "./words.js";

const asker = new Asker("api/protocol");
let run = null;
let shown = 0;
let asked = "";

export function setUp(catalog) {
  fill(get("version"), catalog.protocol_versions.map((each) => [each.name, each.name]));
  get("version").addEventListener("change", (event) => change({ version: event.target.value }));
  get("products").addEventListener("change", (event) => change({ products: event.target.value }));
  get("partition").addEventListener("change", (event) => take(event.target.value.trim()));
  get("parties").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) toggle(Number(button.dataset.position));
  });
  get("message-first").addEventListener("click", () => step(1));
  get("message-back").addEventListener("click", () => step(Math.max(0, shown - 1)));
  get("message-next").addEventListener("click", () => step(Math.min(run?.messages.length ?? 0, shown + 1)));
  get("message-all").addEventListener("click", () => step(run?.messages.length ?? 0));
  onChange(refresh);
}

const LIST = /^\d+(\s*,\s*\d+)*$/;

/** A list of positions, which the server counts from 0, as the page counts them; other partitions stay as they are. */
const shownPartition = (text) => (LIST.test(text) ? text.split(",").map((each) => Number(each) + 1).join(",") : text);

/** What was typed, as the server takes it; a list that cannot be right is explained here, in the page's own counting. */
function take(text) {
  if (!LIST.test(text)) {
    change({ partition: text });
    return;
  }
  const most = run?.input.symbols.length ?? Infinity;
  const wrong = text.split(",").map(Number).find((each) => each < 1 || each > most);
  if (wrong === undefined) change({ partition: text.split(",").map((each) => Number(each) - 1).join(",") });
  else get("protocol-summary").textContent = `There is no position ${wrong}; this input has ${most}, counted from 1.`;
}

/** Ask again when the view is open and something that matters has changed. */
export async function refresh() {
  const s = state();
  get("version").value = s.version;
  get("products").value = s.products;
  if (document.activeElement !== get("partition")) get("partition").value = shownPartition(s.partition || (run?.partition ?? ""));
  if (s.tab !== "protocol") return;
  const question = { setting: setting(), input: input(), partition: s.partition || null, version: s.version, products: s.products };
  if (JSON.stringify(question) === asked) return;
  asked = JSON.stringify(question);
  try {
    const found = await asker.ask(question);
    if (found === null) return;
    run = found;
    shown = Math.min(shown, run.messages.length);
    show();
  } catch (error) {
    asked = "";
    run = null;
    shown = 0;
    get("protocol-summary").textContent = error.message;
    for (const id of ["parties", "lifelines", "protocol-end"]) get(id).replaceChildren();
    get("message-count").textContent = "";
  }
}

function toggle(position) {
  if (run === null) return;
  if (run.needs_cut) {
    change({ partition: `cut:${position}` });
    return;
  }
  const alice = new Set(run.alice);
  if (!alice.delete(position)) alice.add(position);
  change({ partition: alice.size ? [...alice].sort((a, b) => a - b).join(",") : "cut:0" });
}

function step(number) {
  shown = number;
  show();
}

const person = (name) => h("b", { class: name.toLowerCase() }, name);

function show() {
  if (run === null) return;
  const alice = new Set(run.alice);
  const focused = document.activeElement?.closest("#parties") && document.activeElement.dataset.position;
  get("parties").replaceChildren(...run.input.symbols.map((symbol, place) => {
    const party = alice.has(place) ? "Alice" : "Bob";
    return h("button", { type: "button", "data-position": place, "data-party": party, "aria-pressed": party === "Alice", title: `position ${place + 1}: ${symbol}, held by ${party}`, "aria-label": `position ${place + 1}: ${symbol}, held by ${party}` }, symbol);
  }));
  if (focused) get("parties").querySelector(`[data-position="${focused}"]`)?.focus();
  if (document.activeElement !== get("partition")) get("partition").value = shownPartition(state().partition || run.partition);
  get("partition-hint").textContent = run.needs_cut
    ? "A recurrent network needs a prefix and a suffix: cut:5 gives Alice the first five; click a position to cut before it."
    : "odd-even, halves, cut:5, or positions such as 1,3,6 (the command line counts them from 0); or click positions below to hand them over.";
  for (const id of ["version", "products"]) get(id).disabled = run.needs_cut;
  get("protocol-summary").replaceChildren(`${run.theorem}: `, person("Alice"), ` holds ${alice.size} positions, `, person("Bob"), ` ${run.input.symbols.length - alice.size}; numbers have ${bits(run.precision_bits)}. ${run.about_version}.`);
  const said = run.messages.slice(0, shown);
  const sent = said.reduce((total, each) => total + each.length, 0);
  get("message-count").textContent = `${shown} of ${run.messages.length} messages, ${bits(sent)}`;
  const middle = h("div", {}, ...said.map((each, place) => message(each, place === shown - 1)));
  if (shown === 0) middle.append(h("p", { class: "hint" }, "Nothing has been said yet."));
  get("lifelines").replaceChildren(h("div", { class: "who alice" }, "Alice"), h("div", {}), h("div", { class: "who bob" }, "Bob"), h("div", { class: "line" }), middle, h("div", { class: "line" }));
  showEnd();
}

function message(each, fresh) {
  const more = each.length > each.shown ? ` … ${bits(each.length - each.shown)} more` : "";
  return h("div", { class: `message ${each.sender.toLowerCase()}${fresh ? " new" : ""}` },
    h("span", { class: "arrow", "aria-hidden": "true" }),
    h("p", { class: "what" }, person(each.sender), ` to ${each.receiver}, round ${each.round}, ${each.step}: ${each.what} (${bits(each.length)})`),
    h("code", { class: "bits", tabindex: "0", role: "region", "aria-label": `Bits of message ${each.step} from ${each.sender}` }, each.bits + more));
}

function showEnd() {
  const box = get("protocol-end");
  if (shown < run.messages.length) {
    box.replaceChildren();
    return;
  }
  const within = run.total_bits <= run.claimed_bits;
  box.replaceChildren(h("p", { class: "notice" },
    markup(`In all ${bits(run.total_bits)}; the theorem’s ${run.formula} is ${bits(run.claimed_bits)}: ${within ? "within" : "beyond"} it. `),
    ...run.caveats.flatMap((each) => withErrata(markup(`${each[0].toUpperCase()}${each.slice(1)}. `))),
    ...(run.caveats.length > 0 ? withErrata("Which m the constant holds for is erratum E13. ") : []),
    `Both know the answer ${run.answer}, and the network run directly says ${run.direct_answer}: `,
    h("b", { class: run.equal ? "right" : "wrong" }, run.equal ? "equal bit for bit" : "not equal"), "."));
}
