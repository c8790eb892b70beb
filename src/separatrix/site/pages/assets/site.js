"use strict";
// What scripts add to the atlas: the sliders of the table and of the pictures above it, evidence in a dialog, buttons that copy commands, and
// folded parts that open for printing. Everything is on the pages without it. Numbers are looked up in the grid that
// the page carries (#grid), never computed here.
(() => {
  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // Words with hyphens, such as options, are kept whole.
  const code = (text) => {
    const made = element("code");
    made.append(...text.split(/(\S*-\S*)/).map((piece) => (piece.includes("-") ? element("span", piece) : piece)));
    return made;
  };

  // -- commands ------------------------------------------------------------------------------------------------
  for (const block of document.querySelectorAll("pre.command")) {
    const button = element("button", "copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      const text = block.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(block.querySelector("code"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "selected";
      }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.append(button);
  }

  // -- the explorer, which serves the atlas at /atlas/ ----------------------------------------------------------
  for (const each of location.pathname.startsWith("/atlas/") ? document.querySelectorAll("[data-explore]") : []) {
    const link = element("a", "Bend it in the explorer");
    link.href = `/#${each.dataset.explore}`;
    each.replaceChildren(link);
  }

  // -- search: the index is loaded when it is first asked, as a script, because a page from a disk may load no data ----
  const header = document.querySelector("header.top"), brand = header?.querySelector(".brand");
  if (brand) {
    const root = brand.getAttribute("href").replace("index.html", "");
    const form = element("form", undefined, "search");
    form.setAttribute("role", "search");
    form.innerHTML = '<label class="unseen" for="search">Search the atlas</label><input type="search" id="search" ' +
      'placeholder="Search" autocomplete="off"><div class="found" hidden><p class="quiet" role="status"></p><ul></ul></div>';
    brand.after(form);
    const [field, box, said, list] = ["input", ".found", "[role=status]", "ul"].map((each) => form.querySelector(each));
    const load = () => {
      if (window.ATLAS_INDEX || form.dataset.asked) return;
      form.dataset.asked = "";
      const script = element("script");
      script.src = `${root}assets/search.js`;
      script.onload = find;
      document.head.append(script);
    };
    const find = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      box.hidden = !words.length || !window.ATLAS_INDEX;
      if (box.hidden) return;
      const rated = [];
      for (const [address, page, heading, text] of window.ATLAS_INDEX) {
        const [title, rest] = [heading || page, `${page} ${text}`].map((each) => each.toLowerCase());
        let points = (heading ? 0 : 3) + (title.includes(words.join(" ")) ? 12 : 0);
        for (const word of words) {
          const here = ` ${title}`.includes(` ${word}`) ? 8 : title.includes(word) ? 4 : rest.includes(word) ? 1 : 0;
          points = here ? points + here : -Infinity;
        }
        if (points > 0) rated.push([points, address, page, heading, text]);
      }
      rated.sort((one, two) => two[0] - one[0]);
      list.replaceChildren(...rated.slice(0, 12).map(([, address, page, heading, text]) => {
        const item = element("li"), link = element("a");
        link.href = root + address;
        link.append(element("strong", heading ? `${page} › ${heading}` : page), " ", element("span", text.slice(0, 90), "quiet"));
        item.append(link);
        return item;
      }));
      said.textContent = rated.length > 12 ? `The first 12 of ${rated.length} places` : rated.length === 1 ? "1 place" : `${rated.length || "No"} places`;
    };
    const leave = () => { box.hidden = true; };
    field.addEventListener("focus", load);
    field.addEventListener("input", () => { load(); find(); });
    form.addEventListener("submit", (event) => { event.preventDefault(); list.querySelector("a")?.click(); });
    form.addEventListener("keydown", (event) => {
      const stops = [field, ...list.querySelectorAll("a")], step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { leave(); field.focus(); }
      if (!step || box.hidden) return;
      event.preventDefault();
      stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
    });
    form.addEventListener("focusout", (event) => { if (event.relatedTarget && !form.contains(event.relatedTarget)) leave(); });
    list.addEventListener("click", leave);
    addEventListener("click", (event) => { if (!form.contains(event.target)) leave(); });
  }

  // -- menus ---------------------------------------------------------------------------------------------------
  const menus = document.querySelectorAll(".top nav details");
  const closeMenus = target => { for (const menu of menus) if (!menu.contains(target)) menu.open = false; };
  addEventListener("click", event => closeMenus(event.target));
  addEventListener("keydown", event => { if (event.key === "Escape") closeMenus(null); });

  // -- folded parts: those of the address open ----------------------------------------------------------------------
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const own = target.matches("section.class-evidence, article, details") && target.querySelector("details");
    if (own) own.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // -- printing ------------------------------------------------------------------------------------------------
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details:not([open])")) {
      fold.open = true;
      fold.dataset.printed = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of document.querySelectorAll("details[data-printed]")) {
      fold.open = false;
      delete fold.dataset.printed;
    }
  });

  // -- figures: the values of the nearest point, by pointer or by arrow keys, and zoom ------------------------------
  const zoomButtons = (kind, larger, smaller, whole) => {
    const tools = element("span", undefined, kind);
    for (const [sign, name, act] of [["+", "Zoom in", larger], ["−", "Zoom out", smaller], ["⤢", "Show the whole figure", whole]]) {
      const button = element("button", sign);
      button.type = "button";
      button.title = name;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", act);
      tools.append(button);
    }
    return tools;
  };
  // Let a picture be zoomed by buttons, by a double click or Ctrl and the wheel, and dragged once it is zoomed.
  const zoomable = (svg, kind, changed) => {
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const picture = { scale: 1, held: null, place };
    let [left, top, dragged] = [0, 0, false];
    const look = (x, y, scale) => {
      const least = (value, size) => Math.min(Math.max(value, 0), size - size / scale);
      [left, top, picture.scale] = [least(x, width), least(y, height), scale];
      svg.setAttribute("viewBox", `${left} ${top} ${width / scale} ${height / scale}`);
      svg.classList.toggle("zoomed", scale > 1);
      changed();
    };
    const zoom = (factor, x = left + width / picture.scale / 2, y = top + height / picture.scale / 2) => {
      const scale = Math.min(Math.max(picture.scale * factor, 1), 16), kept = picture.scale / scale;
      look(x - (x - left) * kept, y - (y - top) * kept, scale);
    };
    svg.closest("a")?.setAttribute("draggable", "false");
    svg.addEventListener("pointerdown", (event) => {
      dragged = false;
      if (picture.scale > 1) { picture.held = place(event); svg.setPointerCapture(event.pointerId); }
    });
    svg.addEventListener("pointermove", (event) => {
      if (!picture.held) return;
      const { x, y } = place(event);
      dragged = true;
      look(left + picture.held.x - x, top + picture.held.y - y, picture.scale);
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { picture.held = null; });
    svg.addEventListener("click", (event) => { if (dragged) event.preventDefault(); });
    svg.addEventListener("dblclick", (event) => { const { x, y } = place(event); zoom(2, x, y); });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const { x, y } = place(event);
      zoom(event.deltaY < 0 ? 1.25 : 0.8, x, y);
    }, { passive: false });
    picture.tools = zoomButtons(kind, () => zoom(1.6), () => zoom(1 / 1.6), () => look(0, 0, 1));
    return picture;
  };
  const told = element("p", "", "unseen");
  told.setAttribute("role", "status");
  for (const svg of document.querySelectorAll(".canvas svg[data-points]")) {
    const canvas = svg.parentElement;
    const points = JSON.parse(svg.dataset.points).flatMap(([sentence, places]) => places.map(([x, y, ...values]) =>
      [x, y, sentence.split("{}").map((part, place) => part + (values[place] ?? "")).join("")]));
    let chosen = -1;
    document.body.append(told);
    const tip = element("div", "", "tip");
    const ring = document.createElementNS(svg.namespaceURI, "circle");
    ring.setAttribute("class", "ring");
    ring.setAttribute("r", 4);
    svg.append(ring);
    canvas.append(tip);
    const hide = () => { tip.style.display = ring.style.display = "none"; };
    const show = (place, aloud) => {
      chosen = place;
      const [x, y, text] = points[place];
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      tip.textContent = text;
      tip.style.display = ring.style.display = "";
      const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()), box = canvas.getBoundingClientRect();
      const left = Math.min(at.x - box.left + canvas.scrollLeft + 12, canvas.scrollLeft + canvas.clientWidth - tip.offsetWidth - 4);
      tip.style.left = `${Math.max(left, canvas.scrollLeft)}px`;
      tip.style.top = `${Math.max(0, at.y - box.top - tip.offsetHeight - 10)}px`;
      if (aloud) told.textContent = text;
    };
    const picture = zoomable(svg, canvas.className.replace("canvas", "zoom"), hide);
    svg.addEventListener("pointermove", (event) => {
      if (picture.held) return;
      const { x, y } = picture.place(event);
      let [best, near] = [-1, (20 / picture.scale) ** 2];
      points.forEach(([px, py], each) => {
        const far = (px - x) ** 2 + (py - y) ** 2;
        if (far < near) [best, near] = [each, far];
      });
      if (best < 0) hide(); else show(best);
    });
    svg.addEventListener("pointerleave", hide);
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !points.length) return;
      event.preventDefault();
      show((chosen + step + points.length) % points.length, true);
    });
    canvas.addEventListener("blur", hide);
    canvas.parentElement.querySelector(".files")?.after(" ", picture.tools);
    hide();
  }

  // -- learned against impossible -------------------------------------------------------------------------------
  for (const plane of document.querySelectorAll(".plane")) {
    const readout = plane.parentElement.querySelector(".readout");
    // Zoomed in, the plane is larger than its frame, which scrolls.
    const frame = element("div", undefined, "plane-frame");
    let scale = 1;
    plane.replaceWith(frame);
    frame.append(plane);
    const zoom = (factor) => {
      // What was in the middle stays there; from the whole plane, the middle of the marks.
      const box = frame.getBoundingClientRect(), marks = scale > 1 ? [] : [...plane.querySelectorAll(".marks .point")].map((each) => each.getBoundingClientRect());
      const mean = (side, from, size) => marks.reduce((sum, each) => sum + (each[side] - from) / size, 0) / marks.length;
      const middles = marks.length ? [mean("left", box.left, box.width), mean("top", box.top, box.height)]
        : [(frame.scrollLeft + box.width / 2) / frame.scrollWidth, (frame.scrollTop + box.height / 2) / frame.scrollHeight];
      scale = Math.min(Math.max(scale * factor, 1), 8);
      frame.classList.toggle("zoomed", scale > 1);
      if (scale > 1) frame.tabIndex = 0; else frame.removeAttribute("tabindex");
      plane.style.setProperty("--zoom", scale);
      frame.scrollLeft = middles[0] * frame.scrollWidth - frame.clientWidth / 2;
      frame.scrollTop = middles[1] * frame.scrollHeight - frame.clientHeight / 2;
    };
    readout.after(zoomButtons("zoom", () => zoom(1.6), () => zoom(1 / 1.6), () => zoom(1 / 8)));
    for (const kind of ["pointerover", "focusin"]) {
      plane.addEventListener(kind, (event) => {
        const mark = event.target.closest(".point");
        if (mark) readout.textContent = mark.title;
      });
    }
  }

  // -- the table -----------------------------------------------------------------------------------------------
  const stored = document.getElementById("grid");
  if (!stored) return;
  const grid = JSON.parse(stored.textContent);
  const length = document.getElementById("length");
  const precision = document.getElementById("precision");
  const commas = (value) => value.toLocaleString("en-US");
  const raised = (value) => String(value).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  const lengthText = (value) => `2${raised(Math.log2(value))} = ${commas(value)}`;

  let pointed; // the length under the pointer on a picture, instead of the slider's
  const chosen = () => pointed ?? Number(length.value);
  const show = () => {
    const n = chosen();
    const p = Number(precision.value);
    const text = lengthText(grid.lengths[n]);
    document.getElementById("length-shown").textContent = text;
    document.getElementById("precision-shown").textContent = `${grid.precisions[p]} bits`;
    length.setAttribute("aria-valuetext", `N = ${commas(grid.lengths[n])}`);
    precision.setAttribute("aria-valuetext", `${grid.precisions[p]} bits`);
    for (const draw of drawn) draw();
  };
  // The pictures of the stories: log axes over the frame that the grid carries; sizes and words are the grid's.
  const [left, right, ceiling, floor] = grid.frame;
  const drawn = [...document.querySelectorAll("[data-story]")].map((card) => {
    const story = grid.stories[card.dataset.story];
    const part = (name) => card.querySelector(`[data-${name}]`);
    const x = (n) => left + ((right - left) * n) / (grid.lengths.length - 1);
    const y = (size) => floor - ((floor - ceiling) * Math.log2(Math.max(size, 1))) / story.highest;
    const picture = card.querySelector("svg"), last = grid.lengths.length - 1, zoomed = zoomable(picture, "zoom", () => {});
    card.after(zoomed.tools);
    const point = (place) => { if (place !== pointed) { pointed = place; show(); } };
    picture.addEventListener("pointermove", (event) => {
      const at = zoomed.place(event);
      if (!zoomed.held) point(Math.min(Math.max(Math.round(((at.x - left) / (right - left)) * last), 0), last));
    });
    picture.addEventListener("pointerleave", () => point(undefined));
    return () => {
      const n = chosen();
      const p = Number(precision.value);
      const needed = story.needed[p];
      const points = needed.map((size, place) => `${x(place)},${y(size)}`).join(" ");
      part("needed").setAttribute("points", points);
      part("area").setAttribute("points", `${points} ${right},${floor} ${left},${floor}`);
      part("name").setAttribute("y", y(needed[Math.round(grid.named * (needed.length - 1))]) - 8);
      for (const end of ["x1", "x2"]) part("here").setAttribute(end, x(n));
      for (const [name, size] of [["at-needed", needed[n]], ["at-enough", story.enough[n]]]) {
        part(name).setAttribute("cx", x(n));
        part(name).setAttribute("cy", y(size ?? 1));
        part(name).style.visibility = size === null ? "hidden" : "";
      }
      const [text, kind] = grid.cells[story.able].upper[n];
      const other = grid.cells[story.unable];
      const bound = other.unit === "width"
        ? `width ${other.lower[p][n]} (in fixed point of ${grid.precisions[p]} bits)` : `${other.lower[p][n]} ${other.unit}`;
      const words = { width: text || grid.unknown, length: commas(grid.lengths[n]), needed: bound };
      part("sentence").textContent = story.sentence.replace(/\{(\w+)\}/g, (_, name) => words[name]);
      part("sure").textContent = grid.sure[kind].replace("{most}", story.most);
    };
  });

  // The place of the sliders is kept in the address, so that a view can be shared.
  const keep = () => {
    const place = `#N=${grid.lengths[length.value]}&p=${grid.precisions[precision.value]}`;
    try { history.replaceState(null, "", place); } catch { /* some browsers refuse this for files */ }
  };
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [slider, values, key] of [[length, grid.lengths, "N"], [precision, grid.precisions, "p"]]) {
    const found = values.indexOf(Number(given.get(key)));
    if (found >= 0) slider.value = found;
    slider.disabled = false;
    slider.addEventListener("input", show);
    slider.addEventListener("change", keep);
  }
  show();

  // -- evidence ------------------------------------------------------------------------------------------------
  const dialog = document.getElementById("evidence");
  if (!dialog.showModal) return;
  const line = (mark, [growth, text, source]) => {
    const item = element("li");
    item.append(element("span", `${mark} ${growth}`, "side"), ` ${text} `, element("span", source, "quiet"));
    return item;
  };
  const open = (cell, address) => {
    const { task, model } = cell.dataset;
    const data = grid.cells[`${task}/${model}`];
    const n = Number(length.value);
    const p = Number(precision.value);
    const [text, kind, note, command, other] = data.upper[n];
    document.getElementById("evidence-title").textContent = `${grid.titles[task]} for ${grid.classes[model]}`;
    const numbers = element("dl");
    const add = (term, said) => numbers.append(element("dt", term), element("dd", said));
    add("growth", data.verdict);
    const at = `at N = ${commas(grid.lengths[n])}`;
    add("enough", text ? `${data.unit} ${text}, ${grid.words[kind]} ${at} (${note})` : note || `no size was computed ${at}`);
    add("needed", data.lower.length
      ? `${data.unit} ${data.lower[p][n]} ${at}${data.unit === "width" ? ` with numbers of ${grid.precisions[p]} bits` : ""} (${commas(data.bits[n])} bits must be exchanged; ${data.claims.join("; ")})`
      : "no bound is known");
    const run = (term, asked) => {
      const shown = element("dd");
      shown.append(code(asked));
      numbers.append(element("dt", term), shown);
    };
    add("trained", data.training);
    const certified = data.upper.findLastIndex((each) => each[3]);
    if (command) run("this network", command);
    else if (certified >= 0) run(`certified at N = ${commas(grid.lengths[certified])}`, data.upper[certified][3]);
    if (other) {
      add("narrower, with a large lookup table", `${data.unit} ${other[0]}, certified ${at} (${other[1]})`);
      run("that network", other[2]);
    }
    const list = element("ul", undefined, "evidence");
    list.append(...data.above.map((side) => line("≤", side)), ...data.below.map((side) => line("≥", side)));
    for (const remark of data.remarks) list.append(element("li", remark, "remark"));
    const more = element("p");
    const link = element("a", "All evidence, figures and commands");
    link.href = address;
    more.append(link);
    document.getElementById("evidence-body").replaceChildren(numbers, list, more);
    dialog.showModal();
  };
  document.getElementById("separation").addEventListener("click", (event) => {
    const link = event.target.closest("a.cell");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    open(link.closest("td"), link.getAttribute("href"));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
})();
