// What every page must keep, checked in the page itself; gives a list of sentences, empty when all is well.
(() => {
  const found = [];
  const shown = (element) => {
    const style = getComputedStyle(element);
    return element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && style.visibility !== "hidden";
  };
  const named = (element) => {
    const by = (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("");
    const labels = [...(element.labels ?? [])].map((label) => label.textContent).join("");
    const inside = [...element.querySelectorAll("img[alt], svg title")].map((each) => each.alt ?? each.textContent).join("");
    return (element.getAttribute("aria-label") ?? "") + by + labels + (element.matches("input, select, textarea") ? "" : element.textContent) + (element.alt ?? "") + (element.title ?? "") + inside;
  };
  const path = (element) => `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ""}${element.className && element.className.baseVal === undefined ? `.${[...element.classList].join(".")}` : ""}`;
  const say = (element, text) => found.push(`${path(element)}: ${text}`);

  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title) found.push("the page has no title");
  for (const [what, count] of [["h1", 1], ["main", 1]]) {
    const many = [...document.querySelectorAll(what)].filter(shown).length;
    if (many !== count) found.push(`${many} elements ${what} instead of ${count}`);
  }
  let level = 0;
  for (const heading of [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown)) {
    const own = Number(heading.tagName[1]);
    if (level && own > level + 1) say(heading, `a heading of level ${own} after one of level ${level}`);
    level = own;
  }
  for (const each of document.querySelectorAll("a[href], button, input, select, textarea, [role=img], [role=tab], [role=region], img, progress")) {
    const decoration = each.tagName === "IMG" && each.getAttribute("alt") === "";
    if (shown(each) && !decoration && !named(each).trim()) say(each, "has no name");
  }
  for (const each of document.querySelectorAll("[tabindex]")) if (each.tabIndex > 0) say(each, "has a place of its own in the tab order");
  const ids = new Set();
  for (const each of document.querySelectorAll("[id]")) {
    if (ids.has(each.id)) say(each, "shares its id with another element");
    ids.add(each.id);
  }
  for (const name of ["for", "aria-controls", "aria-labelledby", "aria-describedby"]) {
    for (const each of document.querySelectorAll(`[${name}]`)) {
      for (const id of each.getAttribute(name).split(" ")) if (!ids.has(id)) say(each, `${name} names ${id}, which is not there`);
    }
  }

  // Contrast: 4.5 : 1, and 3 : 1 for large text (WCAG AA).
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const solid = (colour, under) => {
    canvas.fillStyle = `rgb(${under.join(",")})`;
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const behind = (element) => {
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(getComputedStyle(each).backgroundColor);
    return chain.reduce((under, colour) => solid(colour, under), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element) || element.closest("script, style, noscript, svg, option, :disabled, [hidden]")) continue;
    seen.add(element);
    if (!shown(element)) continue;
    const style = getComputedStyle(element);
    const under = behind(element);
    const [a, b] = [light(solid(style.color, under)), light(under)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (contrast < least - 0.01) say(element, `contrast ${contrast.toFixed(2)} of “${element.textContent.trim().slice(0, 30)}”`);
  }
  return found;
})()
