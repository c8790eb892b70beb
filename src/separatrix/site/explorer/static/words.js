// What the words of the page mean: as titles, together at the end, and E numbers as links to the errata.

import { get, h, markup } from "./dom.js";

let words = new Map();
let errata = new Map();

export function setUp(catalog) {
  words = new Map(catalog.words.map((each) => [each.key, each]));
  errata = new Map(catalog.errata.map((each) => [each.name, each]));
  for (const element of document.querySelectorAll("[data-word]")) element.title = `${meaning(element.dataset.word)}.`;
  get("word-list").replaceChildren(...catalog.words.map((each) => h("div", { id: `word-${each.key}` }, h("dt", {}, each.word), h("dd", {}, ...withErrata(each.meaning)))));
  get("erratum-list").replaceChildren(...catalog.errata.map((each) => h("div", { id: `erratum-${each.name}`, tabindex: "-1" },
    h("dt", {}, `${each.name}: ${each.title}`),
    h("dd", {}, `${each.source}. `, markup(`Claimed: ${sentence(each.claim)} Instead: ${sentence(each.repair)}`)))));
}

export const meaning = (key) => words.get(key)?.meaning ?? "";

const sentence = (text) => (/[.”]$/.test(text) ? text : `${text}.`);

/** A text, or a sentence with formulas, in which E numbers lead to their erratum, as pieces. */
export function withErrata(content) {
  const whole = document.createDocumentFragment();
  whole.append(content);
  const walker = document.createTreeWalker(whole, NodeFilter.SHOW_TEXT), texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    text.replaceWith(...text.data.split(/(\bE\d+\b)/).map((piece) => {
      const found = errata.get(piece);
      return found === undefined ? piece : h("a", { href: `#erratum-${piece}`, title: found.title }, piece);
    }));
  }
  return [...whole.childNodes];
}
