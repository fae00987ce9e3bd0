/* A printed number that is touched lights up all over the page, and a note says what it is.
 *
 * `docs/_ext/quantities` checks and writes which number is which, and where. Outputs are split when the page rests, so that pages stay light.
 */
"use strict";

(() => {
  const known = JSON.parse(document.getElementById("numbers").textContent);
  const MARKED = ".num, .quoted[data-of]";
  const printed = new Map(); // the id of the first output that has a number

  const expanded = (ranges) =>
    ranges.split(" ").flatMap((range) => {
      const [from, to = from] = range.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
  const named = (quantity, place) => {
    const index = [];
    for (const size of [...known.of[quantity][0]].reverse()) {
      index.unshift(place % size);
      place = Math.floor(place / size);
    }
    return `${quantity}[${index}]`;
  };

  const splitOutput = (id, runs) => {
    const pre = document.querySelector(`#${CSS.escape(id)} pre`);
    const names = new Map();
    const ends = new Map();
    for (const [quantity, ranges, spans] of runs) {
      expanded(ranges).forEach((place, i) => {
        names.set(spans[i][0], named(quantity, place));
        ends.set(spans[i][0], spans[i][1]);
      });
    }
    const texts = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (texts.nextNode()) nodes.push(texts.currentNode);
    let offset = 0; // of the node in the output
    for (const node of nodes) {
      const { data } = node;
      const parts = document.createDocumentFragment();
      let written = 0;
      for (const [start, of] of names) {
        if (start < offset || start >= offset + data.length) continue;
        const [from, to] = [start - offset, ends.get(start) - offset];
        const number = document.createElement("span");
        number.className = "num";
        number.setAttribute("role", "button");
        number.tabIndex = -1;
        number.dataset.of = of;
        number.textContent = data.slice(from, to);
        parts.append(data.slice(written, from), number);
        written = to;
        if (!printed.has(of)) printed.set(of, id);
      }
      parts.append(data.slice(written));
      node.replaceWith(parts);
      offset += data.length;
    }
    pre.querySelector(".num").tabIndex = 0;
    pre.dataset.numbers = "";
  };

  const markFigures = () => {
    for (const number of document.querySelectorAll("[data-trace]")) {
      const [root, ...path] = number.dataset.trace.split(".");
      if (!known.figures[root]) continue;
      const [quantity, shape, ranges] = known.figures[root];
      const place = path.reduce((sum, step, axis) => sum * shape[axis] + Number(step), 0);
      number.dataset.of = named(quantity, expanded(ranges)[place]);
      number.classList.add("num");
      number.ownerSVGElement.dataset.numbers = "";
    }
  };

  const prepare = () => {
    for (const [id, runs] of Object.entries(known.outputs)) splitOutput(id, runs);
    markFigures();
  };

  // The note

  const note = document.createElement("div");
  note.className = "number-note";
  note.id = "number-note";
  note.setAttribute("role", "status");
  document.body.append(note);
  let current = null;
  let closing = 0;

  const put = (parent, tag, text = "") => {
    const element = parent.appendChild(document.createElement(tag));
    element.append(text);
    return element;
  };
  /** Put a formula into an element: `_{12}` lowered and `^{(2)}` raised. */
  const formula = (element, text) => {
    for (const part of text.split(/([_^](?:\{[^}]*\}|\w+))/)) {
      if (!/^[_^]/.test(part)) element.append(part);
      else put(element, part[0] === "_" ? "sub" : "sup", part.slice(1).replace(/^\{|\}$/g, ""));
    }
    return element;
  };
  /** Say what a number is, with its index for `$i`, and its word for `$wi`. */
  const describe = (of) => {
    const [quantity, index] = of.slice(0, -1).split("[");
    const [, axes, symbol, name, made] = known.of[quantity];
    const at = index.split(",").map(Number);
    return [symbol, name, made].map((text) =>
      text.replace(/\$(w?)([a-z])/g, (_, word, axis) => {
        const step = at[axes.indexOf(axis)];
        return word ? known.words[axis][step] : step + 1;
      }),
    );
  };

  const described = (number) => number.closest("[data-numbers]") || number;

  const light = (of) => {
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (!of) return;
    for (const each of document.querySelectorAll(`[data-of="${CSS.escape(of)}"]`)) each.classList.add("lit");
  };

  const close = () => {
    clearTimeout(closing);
    if (!current) return;
    current.classList.remove("touched");
    current = null;
    note.replaceChildren();
    light(null);
  };

  /** Return the box around all numbers that stand together with one, as far as it can be seen. */
  const around = (number) => {
    const group = described(number);
    const all = group === number ? [number] : numbersOf(group);
    const boxes = all.map((each) => each.getBoundingClientRect());
    const own = group.getBoundingClientRect();
    return {
      top: Math.min(own.top, ...boxes.map((box) => box.top)),
      bottom: Math.max(own.bottom, ...boxes.map((box) => box.bottom)),
      right: Math.min(own.right, Math.max(...boxes.map((box) => box.right))),
    };
  };

  const NARROWEST = 180; // pixels beside an output that a note fits into
  const GAP = 28; // which brackets have

  /** Put the note where it covers none of the numbers: at their side, else below or above them. */
  const putBeside = (number) => {
    const box = number.getBoundingClientRect();
    const all = around(number);
    const page = document.documentElement.clientWidth;
    const head = document.querySelector(".bd-header")?.getBoundingClientRect().bottom ?? 0;
    const highest = Math.max(0, head) + 4;
    const beside = page - all.right - GAP - 8;
    const isBeside = described(number) !== number && beside >= NARROWEST;
    note.style.maxWidth = isBeside ? `min(22rem, ${beside}px)` : "";
    const { offsetWidth: width, offsetHeight: height } = note;
    const lowest = innerHeight - height - 8;
    let left = Math.max(8, Math.min(box.left + (box.width - width) / 2, page - width - 8));
    let top = all.bottom + 4;
    if (isBeside) [left, top] = [all.right + GAP, Math.max(highest, Math.min(box.top, lowest))];
    else if (top > lowest && all.top - height - 4 > highest) top = all.top - height - 4;
    else if (top > lowest && described(number) !== number) {
      top = box.top > innerHeight / 2 ? highest : lowest; // the numbers fill the window
    }
    note.style.left = `${left + scrollX}px`;
    note.style.top = `${top + scrollY}px`;
  };

  const show = (number) => {
    clearTimeout(closing);
    if (number === current) return;
    close();
    current = number;
    const { of } = number.dataset;
    const [symbol, name, made] = describe(of);
    light(of);
    number.classList.add("touched");
    const text = document.createDocumentFragment(); // one change, so that it is read once
    const head = put(text, "p");
    formula(put(head, "b"), symbol);
    head.append(`, ${name}`);
    formula(put(text, "p"), made);
    const place = printed.has(of) ? `#${printed.get(of)}` : number.getAttribute("href");
    if (place) put(put(text, "p"), "a", "The cell that printed it").href = place;
    note.replaceChildren(text);
    putBeside(number);
  };

  // Mouse and touch

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const number = event.target.closest?.(MARKED);
    if (number) show(number);
    else if (note.contains(event.target)) clearTimeout(closing);
    else if (current && !document.activeElement?.matches(MARKED)) {
      clearTimeout(closing);
      closing = setTimeout(close, 400); // time to go to the note
    }
  });
  document.addEventListener("click", (event) => {
    const number = event.target.closest?.(MARKED);
    if (!number) {
      if (event.target.closest("a") || !note.contains(event.target)) close();
      return;
    }
    if (number.matches(".quoted") && event.pointerType === "touch" && number !== current) {
      event.preventDefault();
    }
    show(number);
  });

  // Keyboard

  const numbersOf = (group) => [...group.querySelectorAll(".num")];
  const go = (number) => {
    for (const each of numbersOf(described(number))) each.tabIndex = each === number ? 0 : -1;
    number.focus();
    show(number);
  };
  /** Return the nearest number in a direction. */
  const nearest = (numbers, from, [x, y]) => {
    const middle = (each) => {
      const box = each.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const [left, top] = middle(from);
    let best = from;
    let least = Infinity;
    for (const each of numbers) {
      const [dx, dy] = middle(each).map((value, axis) => value - [left, top][axis]);
      const [along, across] = x ? [dx * x, Math.abs(dy)] : [dy * y, Math.abs(dx)];
      if (along > 3 && along + 3 * across < least) [best, least] = [each, along + 3 * across];
    }
    return best;
  };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  document.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible") && target.matches(MARKED)) show(target);
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (target.matches(MARKED) && !note.contains(relatedTarget)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    const at = document.activeElement;
    if (!at?.matches("pre .num") || event.ctrlKey || event.altKey) return;
    if (event.key in ARROWS) go(nearest(numbersOf(described(at)), at, ARROWS[event.key]));
    else if (event.key === "Enter") note.querySelector("a")?.click();
    else return;
    event.preventDefault();
  });
  addEventListener("resize", close);

  (globalThis.requestIdleCallback || setTimeout)(prepare);
})();
