// What is chosen on the page, in one object that is also the address: #construction=…&length=…

const DEFAULTS = {
  construction: "equality", length: "16", variant: "repaired", family: "", max_inner: "1/4", gain: "", attention: "",
  numbers: "fixed", exponent: "", rounding: "down", text: "", seed: "1", position: "", layer: "0", head: "0",
  tab: "attention", partition: "", version: "repaired", products: "rounded", run: "", step: "", rival: "",
};
const PARAMETER = /^p\.[a-z_]{1,40}$/;
const listeners = [];
let current = read();

function read() {
  const found = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (key in DEFAULTS || PARAMETER.test(key)) found[key] = value;
  }
  return found;
}

/** The chosen values, all of them texts. */
export const state = () => current;

/** Parameters of the task that differ from their defaults. */
export function parameters(s = current) {
  return Object.fromEntries(
    Object.entries(s).filter(([key, value]) => key.startsWith("p.") && value !== "").map(([key, value]) => [key.slice(2), value]),
  );
}

/** The part of a state that makes a network, as the server wants it. */
export function setting(s = current) {
  return {
    construction: s.construction, length: Number(s.length), variant: s.variant, family: s.family || null,
    max_inner: s.max_inner, gain: s.gain || null, attention: s.attention || null, numbers: s.numbers,
    exponent: s.exponent === "" ? null : Number(s.exponent), rounding: s.rounding, parameters: parameters(s),
  };
}

/** The input that is chosen: what was typed, or a seed. */
export const input = () => (current.text === "" ? { text: null, seed: Number(current.seed) } : { text: current.text, seed: 0 });

/** Change some values, update the address, and call the listeners. */
export function change(values) {
  const before = current;
  current = { ...current, ...values };
  history.replaceState(null, "", `#${address()}`);
  for (const listener of listeners) listener(current, before);
}

/** Go to a state, whatever was chosen before. */
export const reset = (values) => change({ ...DEFAULTS, ...withoutParameters(), ...values });

/** Forget the parameters of a task that is no longer chosen. */
export function withoutParameters() {
  return Object.fromEntries(Object.keys(current).filter((key) => key.startsWith("p.")).map((key) => [key, ""]));
}

function address() {
  const chosen = Object.entries(current).filter(([key, value]) => value !== (DEFAULTS[key] ?? "") || key === "construction" || key === "length");
  return new URLSearchParams(chosen).toString();
}

export function onChange(listener) {
  listeners.push(listener);
}

/** A link within the page does not change the state: restore the address, unfold and show the target. */
function follow(place) {
  history.replaceState(null, "", `#${address()}`);
  for (let folded = place.closest("details"); folded !== null; folded = folded.parentElement.closest("details")) folded.open = true;
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

window.addEventListener("hashchange", () => {
  const place = document.getElementById(location.hash.slice(1));
  if (place !== null) {
    follow(place);
    return;
  }
  const before = current;
  current = read();
  for (const listener of listeners) listener(current, before);
});
