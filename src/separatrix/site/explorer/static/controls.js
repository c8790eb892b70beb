// The form on the left: what network, what input.

import { code, debounced, fill, fraction, get, h, markup, number } from "./dom.js";
import { change, onChange, parameters, state, withoutParameters } from "./state.js";
import { gainAt } from "./phases.js";
import { meaning, withErrata } from "./words.js";

const LADDER = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384, 65536];
const PLAIN = ["rounding", "numbers", "family", "max_inner", "attention", "variant"];
let catalog = null;
let own = { gain: null, exponent: null };
let typing = false;

const chosen = () => catalog.constructions.find((each) => each.name === state().construction);

/** Lengths that the slider offers to a construction. */
function lengths() {
  const { minimum_length: least, maximum_length: most, length_step: step } = chosen();
  return LADDER.filter((each) => each >= least && each <= most && each % step === 0);
}

/** The nearest length that is offered to a construction. */
function fitting(length) {
  const { minimum_length: least, maximum_length: most, length_step: step } = chosen();
  const clamped = Math.min(Math.max(Math.round(length) || least, least), most);
  return Math.max(Math.ceil(least / step) * step, clamped - (clamped % step));
}

/** Why a length is not offered, as pieces of text. */
function whyNot(text, used) {
  const { name, minimum_length: least, maximum_length: most, length_step: step } = chosen();
  const asked = Number(text);
  const instead = `N = ${number(used)} is used instead.`;
  if (text.trim() === "" || !Number.isInteger(asked)) return [`“${text}” is not a length: ${instead}`];
  if (asked < least) return [`N = ${number(asked)} is too short, the shortest is ${number(least)}: ${instead}`];
  if (asked <= most) return [`N has to be a multiple of ${step}, which ${number(asked)} is not: ${instead}`];
  const longest = chosen().task_maximum_length;
  if (asked > longest) return [`N = ${number(asked)} is too long, the task ends at ${number(longest)}${most < longest ? ` and this server at ${number(most)}` : ""}: ${instead}`];
  return [
    `N = ${number(asked)} is beyond this server’s limit of ${number(catalog.limits.max_length)}: ${instead} For more: `,
    code(`separatrix certify ${name} --length ${asked}`), ", or start the server with ", code(`separatrix serve --max-length ${asked}`), ".",
  ];
}

/** What was asked for and replaced, by the name of the field: {used, said}. */
let replaced = {};

/** Replace what a typed number, another construction or the address asks for and is not offered, and keep why. */
function settle() {
  const { construction, length } = state();
  if (chosen() === undefined) {
    const first = catalog.constructions[0].name;
    replaced = { construction: { used: first, said: [`There is no construction “${construction}”: ${first} is shown instead.`] } };
    choose(first);
    return true;
  }
  const used = fitting(Number(length));
  if (String(used) === length) return false;
  // Another way to write the same number needs no words.
  if (used !== Number(length)) replaced.length = { used: String(used), said: whyNot(length, used) };
  change({ ...fresh, length: String(used) });
  return true;
}

/** Say what was replaced, until something else is chosen. */
function showReplaced(name) {
  if (replaced[name]?.used !== state()[name]) delete replaced[name];
  get(`${name}-note`).hidden = !(name in replaced);
  get(`${name}-note`).replaceChildren(...(replaced[name]?.said ?? []));
}

/** Values that make sense only for one network are forgotten when it changes. */
const fresh = { text: "", position: "", layer: "0", head: "0", partition: "" };

export function setUp(given) {
  catalog = given;
  fill(get("construction"), catalog.constructions.map((each) => [each.name, each.title]));
  fill(get("family"), [["", "narrowest"], ...catalog.codes.map((each) => [each, each])]);
  fill(get("attention"), [["", "theorem default"], ...catalog.attentions.map((each) => [each, each])]);
  get("controls").addEventListener("submit", (event) => event.preventDefault());
  get("construction").addEventListener("change", (event) => choose(event.target.value));
  get("length").addEventListener("input", (event) => change({ ...fresh, length: String(lengths()[event.target.value]) }));
  get("length-number").addEventListener("change", (event) => change({ ...fresh, length: event.target.value }));
  get("gain").addEventListener("input", (event) => change({ gain: gainOf(Number(event.target.value)) }));
  get("gain-own").addEventListener("click", () => change({ gain: "" }));
  get("exponent").addEventListener("input", (event) => change({ exponent: event.target.value }));
  get("exponent-own").addEventListener("click", () => change({ exponent: "" }));
  for (const name of PLAIN) get(name).addEventListener("change", (event) => change({ [name]: event.target.value.trim() }));
  get("shuffle").addEventListener("click", () => change({ text: "", seed: String(Math.floor(Math.random() * 1e9)), position: "" }));
  const typed = debounced(() => {
    typing = false;
    change({ text: get("text").value.trim() });
  }, 400);
  get("text").addEventListener("input", () => {
    typing = true;
    typed();
  });
  onChange(followed);
  followed();
}

/** Update the form; a state that has to be replaced comes here again, as its replacement. */
function followed() {
  if (!settle()) show();
}

/** Another construction; what was chosen for the one before is forgotten. */
export function choose(name) {
  change({ construction: name, ...fresh, ...withoutParameters(), variant: "repaired", gain: "", exponent: "", run: "", step: "", rival: "" });
}

/** The exact η at so many per cent of the theorem default; nothing at 100. */
const gainOf = (percent) => (percent === 100 || own.gain === null ? "" : gainAt(percent, own.gain));

function show() {
  const s = state();
  const entry = chosen();
  get("construction").value = s.construction;
  get("statement").replaceChildren(`${entry.theorem}: `, markup(`${entry.statement}.`), ...entry.deviations.length ? [h("br"), ...withErrata(markup(`Deviates: ${entry.deviations.join("; ")}.`))] : []);
  get("statement").title = /third.order/.test(`${entry.title} ${entry.statement}`) ? `Third-order attention: ${meaning("third-order")}.` : "";
  const offered = lengths();
  const place = offered.findIndex((each) => each >= Number(s.length));
  get("length").max = offered.length - 1;
  get("length").value = place < 0 ? offered.length - 1 : place;
  get("length").setAttribute("aria-valuetext", `N = ${s.length}`);
  get("length-number").value = s.length;
  get("length-number").min = entry.minimum_length;
  get("length-number").max = entry.maximum_length;
  get("length-number").step = entry.length_step;
  showReplaced("construction");
  showReplaced("length");
  fill(get("variant"), entry.variants.map((each) => [each, each]), s.variant);
  get("variant").parentElement.hidden = entry.variants.length < 2;
  for (const name of PLAIN) if (document.activeElement !== get(name)) get(name).value = s[name];
  const about = { digits: meaning("digits"), circle: meaning("circle") }[s.family.replace(/s?:\d+$/, "")];
  get("family-note").textContent = about === undefined ? "" : `${s.family}: ${about}.`;
  get("family-note").hidden = about === undefined;
  const exact = s.numbers === "reals";
  get("exponent").disabled = exact;
  get("exponent-own").disabled = exact;
  get("rounding").disabled = exact;
  showParameters(entry, s);
  showOwn();
}

function showParameters(entry, s) {
  get("parameters").hidden = entry.parameters.length === 0;
  if (get("parameter-fields").dataset.task === entry.task) {
    for (const field of get("parameter-fields").querySelectorAll("input")) {
      if (document.activeElement !== field) field.value = s[field.id] || field.dataset.own;
    }
    return;
  }
  get("parameter-fields").dataset.task = entry.task;
  get("parameters").open = Object.keys(parameters()).length > 0;
  get("parameter-fields").replaceChildren(...entry.parameters.map((each) => {
    const id = `p.${each.name}`;
    const set = (event) => {
      const value = event.target.value.trim();
      change({ ...fresh, [id]: value === each.default ? "" : value });
    };
    const field = h("input", { type: "text", id, maxlength: "40", "data-own": each.default, onchange: set });
    field.value = s[id] || each.default;
    return h("div", { class: "field" }, h("label", { for: id }, each.name.replaceAll("_", " ")), field);
  }));
}

/** Show what a look found: the theorem defaults of η and Kc, and the input that was run. */
export function heard(look) {
  own = { gain: look.own_gain, exponent: look.exponent };
  showOwn(look.size.precision_bits);
  if (!typing) get("text").value = look.input.text;
  get("layout").replaceChildren(markup(look.layout));
  // A recurrent network has neither addresses nor attention to choose.
  const recurrent = look.attention.kind === "state";
  get("code-fields").hidden = recurrent;
  get("attention").parentElement.hidden = recurrent;
  const smaller = Object.entries(look.chosen).map(([name, value]) => `${name} ${value}`).join(", ");
  get("chosen").textContent = smaller && `Chosen here: ${smaller}. The default N² takes numbers or tables so large that nothing is decided at this length; set it below.`;
  get("chosen").hidden = smaller === "";
  get("typed").textContent = look.input.promised ? "" : "This input breaks the promise of the task: the claim says nothing about it.";
}

let shownBits = null;

function showOwn(precision = shownBits) {
  shownBits = precision;
  const s = state();
  const scale = own.gain === null ? null : fraction(own.gain);
  get("gain-field").hidden = scale === null;
  get("gain-own").hidden = s.gain === "";
  get("gain-is-own").hidden = s.gain !== "" || scale === null;
  if (scale !== null) {
    const value = s.gain === "" ? scale : fraction(s.gain);
    const percent = Math.round((100 * value) / scale);
    if (document.activeElement !== get("gain") || Number(get("gain").value) !== percent) get("gain").value = percent;
    get("gain").setAttribute("aria-valuetext", `η = ${number(value)}, ${percent} per cent of the theorem default`);
    get("gain-value").textContent = `${number(value)} · ${percent} %`;
  }
  const exponent = s.exponent === "" ? own.exponent : Number(s.exponent);
  if (exponent !== null) get("exponent").value = exponent;
  get("exponent-own").hidden = s.exponent === "";
  get("exponent-is-own").hidden = s.exponent !== "";
  const text = `${exponent ?? "–"}${precision === null ? "" : ` · ${precision} bits`}`;
  get("exponent-value").textContent = s.numbers === "reals" ? "exact" : text;
  const heardBits = precision === null ? "" : `, ${precision} bits`;
  get("exponent").setAttribute("aria-valuetext", s.numbers === "reals" ? "not used: numbers are exact" : `Kc = ${exponent ?? "theorem default"}${heardBits}`);
}
