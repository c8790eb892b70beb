// Small helpers around the page's elements; text is set as text, but for sentences that the server sends as HTML.

export const get = (id) => document.getElementById(id);

/** A new element: h("td", {class: "number", onclick: f}, "text", child, …). */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.startsWith("aria-")) element.setAttribute(key, String(value));
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((each) => each !== null && each !== undefined));
  return element;
}

/** A sentence of the server with its formulas. */
export function markup(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  return made.content;
}

/** Text as code whose words, such as options, break at no hyphen. */
export const code = (text) => h("code", {}, ...words(text));

/** The pieces of such a text. */
export function words(text) {
  return text.split(/(\S*-\S*)/).map((piece) => (piece.includes("-") ? h("span", {}, piece) : piece));
}

/** The same as h for drawings. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** The options of a select, from [value, text] pairs, keeping what is chosen where it is still offered. */
export function fill(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => h("option", { value }, text)));
  if (pairs.some(([value]) => value === String(chosen))) select.value = String(chosen);
}

/** A number for people: up to four significant digits, never "1e-7" where 0.0000001 is short enough. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && size < 0.0001) return value.toExponential(1);
  return Number(value.toPrecision(size < 1 ? 3 : 4)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** The value of a fraction written as text, such as "39/4". */
export function fraction(text) {
  const [above, below] = text.split("/").map(Number);
  return below ? above / below : above;
}

export const bits = (count) => `${count.toLocaleString("en")} bit${count === 1 ? "" : "s"}`;

/** Calls f once things have been quiet for a moment. */
export function debounced(f, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...values), milliseconds);
  };
}

/** "64^1024*1024" as people write it. */
export function power(text) {
  const parts = [];
  for (const piece of text.replaceAll("*", " · ").split(/(\^\d+)/)) {
    parts.push(piece.startsWith("^") ? h("sup", {}, piece.slice(1)) : piece);
  }
  return parts;
}
