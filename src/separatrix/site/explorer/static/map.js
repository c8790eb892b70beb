// Drawing matrices: one pixel of a canvas for each entry, enlarged by the browser without smoothing.

import { get, h } from "./dom.js";

const style = () => getComputedStyle(document.documentElement);

function rgb(text) {
  const value = text.trim().replace("#", "");
  return [0, 2, 4].map((place) => parseInt(value.slice(place, place + 2), 16));
}

export const mix = (from, to, share) => from.map((value, place) => Math.round(value + (to[place] - value) * share));

/** The colours of this scheme. */
export function colours() {
  const found = style();
  return { low: rgb(found.getPropertyValue("--map-low")), high: rgb(found.getPropertyValue("--map-high")), below: rgb(found.getPropertyValue("--below")) };
}

export const bytes = (picture) => Uint8Array.from(atob(picture.data), (each) => each.charCodeAt(0));

/** The value of an entry, as far as a byte holds it. */
export function valueAt(picture, data, row, column) {
  const unit = data[row * picture.columns + column] / 255;
  return picture.kind === "weights" ? unit * unit : picture.low + unit * (picture.high - picture.low);
}

/** Draw a matrix. */
export function draw(canvas, picture, data) {
  const { low, high, below } = colours();
  canvas.width = picture.columns;
  canvas.height = picture.rows;
  canvas.style.aspectRatio = `${picture.columns} / ${Math.max(picture.rows, picture.columns / 6)}`;
  const context = canvas.getContext("2d");
  const image = context.createImageData(picture.columns, picture.rows);
  const span = Math.max(Math.abs(picture.low), Math.abs(picture.high)) || 1;
  for (let place = 0; place < data.length; place += 1) {
    let colour;
    if (picture.kind === "weights") colour = mix(low, high, data[place] / 255);
    else {
      const value = (picture.low + (data[place] / 255) * (picture.high - picture.low)) / span;
      colour = mix(low, value < 0 ? below : high, Math.abs(value));
    }
    image.data.set([...colour, 255], 4 * place);
  }
  context.putImageData(image, 0, 0);
}

/** Row and column under the mouse. */
export function placeOf(canvas, picture, event) {
  const box = canvas.getBoundingClientRect();
  const row = Math.floor(((event.clientY - box.top) / box.height) * picture.rows);
  const column = Math.floor(((event.clientX - box.left) / box.width) * picture.columns);
  return [Math.min(Math.max(row, 0), picture.rows - 1), Math.min(Math.max(column, 0), picture.columns - 1)];
}

/** Point at a row of the matrix, or at a column where `across` says so; null points at nothing. */
export function mark(marker, picture, place, across = false) {
  marker.hidden = place === null;
  if (place === null) return;
  const count = across ? picture.columns : picture.rows;
  const start = `${(100 * Math.floor(place / picture.block)) / count}%`;
  const size = `${100 / count}%`;
  Object.assign(marker.style, across ? { left: start, width: size, top: "0", height: "100%" } : { top: start, height: size, left: "0", width: "100%" });
}

export const MOST_LABELS = 40;

/** Token labels along both sides of a map, where there is room for them; across only, for states. */
export function labels(name, symbols, shown, down = true) {
  const few = shown && symbols.length <= MOST_LABELS;
  for (const [side, wanted] of [["across", few], ["down", few && down]]) {
    get(`${name}-${side}`).replaceChildren(...(wanted ? symbols.map((each) => h("span", { title: each }, each)) : []));
  }
}
