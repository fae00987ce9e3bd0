// The element <attention-explorer>: tables of every step, and controls that change what is in them.
//
// Each starts with the book's numbers. What a reader sees is built when it is first unfolded.
(() => {
  const { selfattn } = globalThis;
  const { at, percent, printed, row, tasks, trace } = selfattn;
  const INDEX = [0, 1, 2, 3, 4, 5];

  // Each tensor: its symbol, its name, its colour, and which of its sides are words.
  const TENSORS = {
    inputs: { sign: "<b>X</b>", letter: "<b>x</b>", name: "Embeddings", role: "input", words: "rows" },
    W_query: { sign: "<b>W</b><sub>q</sub>", name: "Query matrix", role: "query" },
    W_key: { sign: "<b>W</b><sub>k</sub>", name: "Key matrix", role: "key" },
    W_value: { sign: "<b>W</b><sub>v</sub>", name: "Value matrix", role: "value" },
    queries: { sign: "<b>Q</b> = <b>XW</b><sub>q</sub>", letter: "<b>q</b>", name: "Queries", role: "query", words: "rows" },
    keys: { sign: "<b>K</b> = <b>XW</b><sub>k</sub>", letter: "<b>k</b>", name: "Keys", role: "key", words: "rows" },
    values: { sign: "<b>V</b> = <b>XW</b><sub>v</sub>", letter: "<b>v</b>", name: "Values", role: "value", words: "rows" },
    attn_scores: { sign: "Ω = <b>QK</b><sup>⊤</sup>", letter: "<i>ω</i>", name: "Attention scores", role: "input", words: "both" },
    masked: { letter: "<i>s</i>", name: "Scaled scores", role: "input", words: "both" },
    attn_weights: { sign: "<b>A</b>", letter: "<i>α</i>", name: "Attention weights", role: "weight", words: "both" },
    context_vecs: { sign: "<b>Z</b> = <b>AV</b>", letter: "<b>z</b>", name: "Context vectors", role: "value", words: "rows" },
  };
  const GIVEN = ["inputs", "W_query", "W_key", "W_value"];
  const BETWEEN = ["queries", "keys", "values", "attn_scores", "masked"];
  const RESULTS = ["attn_weights", "context_vecs"];
  const DIVISORS = { sqrt: "√<i>d</i><sub>k</sub>", 1: "1", d_k: "<i>d</i><sub>k</sub>" };
  const CHOICES = {
    divisor: ["Divide scores by", DIVISORS],
    mask: ["Mask", { none: "none", causal: "causal" }],
    axis: ["Softmax along", { row: "rows", column: "columns" }],
  };
  const FIRST_OF_MASKS = 9; // the task from which on scores are hidden
  const KEPT = "explorer-solved"; // where the browser keeps which tasks are solved

  const CHANGED = ["inset 0 0 0 2px var(--role)", "inset 0 0 0 2px transparent"]; // for a moment

  const minus = (text) => text.replaceAll("-", "−");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const narrow = matchMedia("(max-width: 39.99rem)");
  const wide = matchMedia("(min-width: 64rem)");

  function make(kind, attributes = {}, ...children) {
    const element = document.createElement(kind);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "html") element.innerHTML = value.replace(/>\s+</g, "><");
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  function button(text, press, name = "") {
    const element = make("button", { type: "button", "aria-label": name || false }, text);
    element.addEventListener("click", press);
    return element;
  }

  // Which tasks are solved: kept where the browser allows it.
  const solved = {
    all: new Set(),
    read() {
      try {
        this.all = new Set(JSON.parse(localStorage.getItem(KEPT)));
      } catch {} // nothing was kept, or may be
    },
    add(name) {
      this.all.add(name);
      try {
        localStorage.setItem(KEPT, JSON.stringify([...this.all]));
      } catch {}
    },
  };

  class AttentionExplorer extends HTMLElement {
    connectedCallback() {
      if (this.given) return;
      this.given = JSON.parse(this.dataset.given);
      this.cells = new Map();
      this.body = make("div", { class: "explorer" });
      this.state = selfattn.USUAL;
      this.first = this.now = selfattn.compute(this.state, this.given);
      narrow.addEventListener("change", () => this.render());
      const fold = this.querySelector(":scope > details");
      if (!fold) return this.build(this);
      fold.addEventListener("toggle", () => fold.open && this.build(fold));
      if (fold.open) this.build(fold);
    }

    /* What is there */

    build(into) {
      if (this.body.isConnected) return;
      const { show, tasks: hasTasks } = this.given;
      const tables = (names) => names.filter((name) => show.includes(name)).map((name) => this.table(name));
      const group = (name, ...parts) => make("div", { class: `explorer-${name}` }, ...parts);
      const between = group("tables", ...tables(BETWEEN));
      const fold = make("details", { open: wide.matches }, make("summary", {}, "The steps between"), between);
      this.live = make("p", { class: "visually-hidden", role: "status" });
      this.makeNote();
      this.body.append(
        ...(hasTasks ? [this.task()] : []),
        group("answers", this.sentence(), group("results", ...tables(RESULTS))),
        group("given", this.settings(), group("tables", ...tables(GIVEN))),
        hasTasks ? fold : between,
        this.live,
      );
      into.append(this.body);
      this.listen();
      this.render();
    }

    sentence() {
      const each = (text) => INDEX.map((i) => text.replace("#", i + 1)).join("");
      const box = make("fieldset", {
        class: "explorer-sentence",
        html: `<legend>Which word asks? How much it attends to each word:</legend>
          <svg viewBox="0 0 360 60" preserveAspectRatio="none" aria-hidden="true">${each("<path/>")}</svg>
          ${each(`<label><input type="radio" name="${this.id}-word" value="#">
          <span class="explorer-name"></span><span aria-hidden="true"></span></label>`)}`,
      });
      box.hidden = !this.given.show.includes("attn_weights");
      this.words = [...box.querySelectorAll("label")];
      this.words.forEach((label, i) => label.children[1].append(this.given.words[i]));
      this.arcs = [...box.querySelectorAll("path")];
      return box;
    }

    settings() {
      const { controls } = this.given;
      const choices = Object.keys(CHOICES).filter((name) => controls.includes(name));
      const other = button("Other numbers", () => this.change(selfattn.others()));
      const reset = button("Reset", () => this.reset());
      const buttons = make("div", { class: "explorer-options" }, ...(controls.includes("numbers") ? [other] : []), reset);
      return make("div", { class: "explorer-settings" }, ...choices.map((name) => this.choice(name)), buttons);
    }

    choice(name) {
      const [legend, options] = CHOICES[name];
      const fields = Object.entries(options).map(([value, html]) =>
        `<label><input type="radio" name="${this.id}-${name}" value="${value}"><span>${html}</span></label>`);
      return make("fieldset", {
        class: "explorer-choice",
        html: `<legend>${legend}</legend><div class="explorer-options">${fields.join("")}</div>`,
      });
    }

    task() {
      const box = make("div", {
        class: "explorer-task",
        role: "group",
        "aria-label": "Tasks",
        html: `<div class="explorer-head"><p class="explorer-count"></p><div class="explorer-options"></div></div>
          <p class="explorer-ask"></p><p class="explorer-answer" role="status"></p>
          <details><summary>Hint</summary><p></p></details>`,
      });
      const [count, ask, answer, hint] = box.querySelectorAll("p");
      this.parts = { count, ask, answer, hint };
      this.hint = box.lastChild;
      const move = (by) => () => this.turn((this.current + by + tasks.length) % tasks.length);
      box.querySelector(".explorer-options").append(
        button("‹", move(-1), "Previous task"),
        button("Next task ›", move(1), "Next task"),
      );
      solved.read();
      return box;
    }

    table(name) {
      const { role, words, name: title } = TENSORS[name];
      const of = this.now[name];
      const labels = words === "both" ? this.given.words : Array.from({ length: of.columns }, (_, j) => j + 1);
      const head = make("tr", {}, make("td"), ...labels.map((label) => make("th", { scope: "col" }, label)));
      const body = make("tbody");
      for (let i = 0; i < of.rows; i++) body.append(this.line(name, i));
      const attributes = { role: "grid", "aria-label": title, class: `explorer-table role-${role}`, "data-step": name };
      const table = make("table", attributes, make("caption"), make("thead", {}, head), body);
      return make("div", { class: "explorer-scroll" }, table);
    }

    line(name, i) {
      const label = TENSORS[name].words ? this.given.words[i] : String(i + 1);
      const line = make("tr", {}, make("th", { scope: "row" }, label));
      for (let j = 0; j < this.now[name].columns; j++) {
        const cell = make("td", { tabindex: i + j ? -1 : 0 });
        Object.assign(cell, { step: name, i, j });
        if (selfattn.entry(name, i, j)) cell.className = "explorer-open";
        this.cells.set(`${name} ${i} ${j}`, cell);
        line.append(cell);
      }
      return line;
    }

    // What stands beside the number that was touched: what it is made of, and what changes it.
    makeNote() {
      this.note = make("div", {
        class: "explorer-note",
        hidden: true,
        html: `<p class="explorer-trace" id="${this.id}-trace"></p>
          <div class="explorer-editor" hidden>
          <input type="text" inputmode="decimal" autocomplete="off" maxlength="9" size="7">
          <input type="range" step="0.01"></div>
          <p class="explorer-follows"></p><p class="explorer-solved"></p>`,
      });
      [this.trace, this.follows, this.hail] = this.note.querySelectorAll("p");
      this.editor = this.note.querySelector(".explorer-editor");
      [this.field, this.slider] = this.editor.children;
      this.hide = button("", () => this.toggle(this.chosen));
      this.editor.after(this.hide);
      // The number that a button changes keeps the focus, in browsers that focus no button, too.
      this.note.addEventListener("mousedown", (event) => event.target.closest("button") && event.preventDefault());
    }

    /* What readers do */

    change(changes) {
      this.state = { ...this.state, ...changes };
      for (const name of Object.keys(changes))
        if (selfattn.isOriginal(name, this.state[name], this.given)) delete this.state[name];
      this.now = selfattn.compute(this.state, this.given);
      this.render();
      this.changed();
    }

    reset(task = this.state.task) {
      this.state = { ...selfattn.USUAL, task };
      this.change({});
    }

    listen() {
      const { body, field, slider } = this;
      const cellOf = (event) => {
        const cell = event.target.closest("td");
        return cell?.step ? cell : null;
      };
      body.addEventListener("click", (event) => cellOf(event)?.focus({ preventScroll: true }));
      body.addEventListener("focusin", (event) => {
        const cell = cellOf(event);
        if (cell) this.choose(cell);
        else if (!this.note.contains(event.target)) this.choose(null, event.target);
      });
      body.addEventListener("focusout", (event) => {
        if (!document.hasFocus()) return;
        if (event.target === field) this.commit();
        if (!body.contains(event.relatedTarget)) this.choose(null, event.relatedTarget);
      });
      body.addEventListener("keydown", (event) => this.key(event, cellOf(event)));
      body.addEventListener("change", ({ target }) => {
        if (target === field) this.commit();
        else if (target.type === "radio")
          this.change({ [target.name.slice(this.id.length + 1)]: target.value });
      });
      slider.addEventListener("input", () => this.set(slider.value));
      field.addEventListener("input", () => field.setCustomValidity(""));
      // Who touches the field wants to type another number.
      field.addEventListener("pointerdown", () => {
        if (!field.matches(":focus")) field.addEventListener("click", () => field.select(), { once: true });
      });
    }

    // Take up the number that the focus is on.
    take(key = "") {
      if (this.editor.hidden) return false;
      this.field.focus({ preventScroll: true });
      if (key) this.field.value = key;
      else this.field.select();
      return true;
    }

    // Take what was typed, unless it is what was there: a comma and a minus sign are understood, too.
    commit() {
      if (this.field.value === this.written) return;
      const typed = this.field.value.trim().replace(",", ".").replace("−", "-");
      const value = typed.replace(/^(-?)\.(?=\d)/, "$10.").replace(/\.$/, "");
      if (this.set(value)) return;
      this.field.setCustomValidity("An entry must be a number from -99 to 99 with four decimals at most.");
      this.field.reportValidity();
    }

    set(value) {
      const name = this.chosen && selfattn.entry(this.chosen.step, this.chosen.i, this.chosen.j);
      if (!name || !selfattn.isEntry(value)) return false;
      this.change({ [name]: String(Number(value)) });
      return true;
    }

    toggle({ i, j }) {
      this.change({ mask: selfattn.toggle(this.state.mask, `${i + 1}${j + 1}`) });
    }

    key(event, cell) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && this.chosen) {
        if (cell) cell.blur();
        else {
          this.edit(); // as it was
          this.chosen.focus({ preventScroll: true });
        }
      } else if (event.target === this.field && event.key === "Enter") {
        this.commit();
        return;
      } else if (!cell || !this.move(event, cell)) return;
      event.preventDefault();
    }

    // Move in a table, or take up the number that the focus is on; return whether the key did.
    move({ key }, cell) {
      const { step, i, j } = cell;
      const { rows, columns } = this.now[step];
      const steps = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1] };
      const to = { ...steps, Home: [i, 0], End: [i, columns - 1] }[key];
      if (to) {
        const [r, c] = [Math.min(Math.max(to[0], 0), rows - 1), Math.min(Math.max(to[1], 0), columns - 1)];
        this.cells.get(`${step} ${r} ${c}`).focus();
        return true;
      }
      if (!this.hide.hidden && (key === "Enter" || key === " ")) {
        this.toggle(cell);
        return true;
      }
      if (/^(Enter|F2)$/.test(key)) return this.take();
      return /^[-−.,\d]$/.test(key) && this.take(key);
    }

    /* What readers see */

    // A cell has the focus, or what changes it has.
    choose(cell, touched = cell) {
      if (cell === this.chosen) return;
      const top = touched?.getBoundingClientRect().top;
      this.chosen?.closest(".explorer-scroll").style.removeProperty("margin-bottom");
      this.chosen?.removeAttribute("aria-describedby");
      this.chosen = cell;
      this.before = this.now;
      this.hail.textContent = "";
      this.note.hidden = !cell;
      if (cell) {
        const scroll = cell.closest(".explorer-scroll");
        for (const other of scroll.querySelectorAll("td[tabindex='0']")) other.tabIndex = -1;
        cell.tabIndex = 0;
        cell.setAttribute("aria-describedby", this.trace.id);
        scroll.after(this.note); // so that the focus goes there next
      }
      this.explain();
      this.edit();
      // What was touched stays where it is.
      if (touched) scrollBy({ top: touched.getBoundingClientRect().top - top, behavior: "instant" });
      if (cell) this.place(cell);
    }

    // Put the note below, beside or above its table, in sight, where it covers no heading, not its
    // number's row, and nothing that follows; else make room for it below the table.
    place(cell) {
      const rect = (each) => each.getBoundingClientRect();
      const scroll = cell.closest(".explorer-scroll");
      const [box, table, all] = [cell, scroll.firstChild, this.body].map(rect);
      const { offsetWidth: width, style } = this.note;
      const height = Math.max(this.note.offsetHeight, this.editor.hidden ? 0 : this.hint ? 190 : 160); // once it says more
      const kept = [cell.parentNode, ...this.body.querySelectorAll("caption, thead, .explorer-lit, .explorer-results, summary")].map(rect);
      const isFree = ([x, y]) => x > all.left - 1 && x + width < all.right + 1 && y > 56 && y + height < innerHeight &&
        !kept.some((each) => x < each.right && each.left < x + width && y < each.bottom && each.top < y + height);
      const left = Math.max(all.left, Math.min(table.left, all.right - width));
      const beside = Math.max(64, Math.min(box.top, innerHeight - height - 8));
      const below = [left, table.bottom + 6];
      const spots = [below, [table.right + 6, beside], [table.left - width - 6, beside]];
      if (below[1] + height > innerHeight) spots.push([left, table.top - height - 6, height - this.note.offsetHeight]);
      const free = spots.find(isFree);
      const [x, y, spare = 0] = free ?? below;
      if (!free) scroll.style.marginBottom = `${height + 12}px`;
      Object.assign(style, { left: `${x - all.left}px`, top: `${y + spare - all.top}px` });
      if (!free) scrollBy({ top: Math.max(0, Math.min(y + height + 8 - innerHeight, box.top - 64)), behavior: "instant" });
    }

    edit() {
      const cell = this.chosen;
      if (!cell) return;
      const isOpen = cell.classList.contains("explorer-open");
      this.editor.hidden = !isOpen;
      const hides = this.given.tasks ? this.current + 1 >= FIRST_OF_MASKS : this.given.controls.includes("mask");
      this.hide.hidden = !hides || !/^(masked|attn_weights)$/.test(cell.step);
      const isHidden = selfattn.hidden(this.state.mask).has(`${cell.i + 1}${cell.j + 1}`);
      this.hide.textContent = isHidden ? "Show this score again" : "Hide this score";
      if (!isOpen) return;
      const number = at(this.now[cell.step], cell.i, cell.j);
      const name = this.nameOf(cell);
      const reach = Math.max(2, Math.ceil(Math.abs(number)));
      this.field.value = this.written = minus(String(Number(number.toFixed(4))));
      this.field.setCustomValidity("");
      Object.assign(this.slider, { min: -reach, max: reach, value: number });
      this.field.setAttribute("aria-label", name);
      this.slider.setAttribute("aria-label", `${name}, slider`);
    }

    nameOf({ step, i, j }) {
      const { name, words } = TENSORS[step];
      const line = words ? `“${this.given.words[i]}”` : `row ${i + 1}`;
      return `${name}, ${line}, ${words === "both" ? `“${this.given.words[j]}”` : `column ${j + 1}`}`;
    }

    // Say how the number was made, and light what it came from.
    explain() {
      for (const lit of this.body.querySelectorAll(".explorer-lit")) lit.classList.remove("explorer-lit");
      const cell = this.chosen;
      if (!cell) return;
      const { step, i, j } = cell;
      const made = trace(step === "masked" ? "scaled" : step, i, j, this.now);
      for (const term of made.terms) this.cells.get(term.join(" "))?.classList.add("explorer-lit");
      const isHidden = step === "masked" && at(this.now.masked, i, j) === -Infinity;
      this.trace.innerHTML = `${this.signOf(cell)} = <span></span>`;
      this.trace.lastChild.textContent = (isHidden ? "−inf: the mask hides this score, which is " : "") + minus(made.text);
      this.follow();
    }

    // Say which tables have changed since the number was touched, and a row of the last of them.
    follow() {
      const line = (of, step, i, digits) => minus(row(of[step], i).map((x) => printed(x, digits)).join(" "));
      const differs = (step) => (i) => line(this.now, step, i) !== line(this.before, step, i);
      const shown = [...BETWEEN, ...RESULTS].filter((step) => this.given.show.includes(step) && TENSORS[step].sign);
      const changed = shown.filter((step) => INDEX.some(differs(step)));
      const step = changed.at(-1);
      if (!step) return void (this.follows.textContent = "");
      const signs = changed.map((each) => TENSORS[each].sign.split(" = ")[0]);
      const i = [this.asked().place, ...INDEX].find(differs(step)); // the row of the word that asks, if it has
      const [before, now] = [this.before, this.now].map((of) => line(of, step, i, of[step].columns > 2 ? 2 : 4));
      this.follows.innerHTML = `Changed: ${signs.join(", ")}. ${signs.at(-1)} of “${this.given.words[i]}”: ${before} → ${now}`;
    }

    signOf({ step, i, j }) {
      const { sign, letter, words } = TENSORS[step];
      if (words === "both") return `${letter}<sub>${i + 1}${j + 1}</sub>`;
      return words ? `${letter}<sup>(${i + 1})</sup><sub>${j + 1}</sub>` : `${sign}[${i + 1}, ${j + 1}]`;
    }

    // A change was made here: say what came of it, once it has settled.
    changed() {
      const { place, word, shares } = this.asked();
      const most = shares.indexOf(Math.max(...shares));
      const isEven = shares[most] - Math.min(...shares) < 1e-6;
      const [gives, to] = isEven ? ["the same", "all"] : ["most", `“${this.given.words[most]}”`];
      const given = most < 0 ? "has no weights: nan" : `gives ${gives} to ${to}, ${percent(this.now, place, most)}`;
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => (this.live.textContent = `“${word}” ${given}.`), 500);
    }

    get current() {
      return Number(this.state.task) - 1;
    }

    // Turn to another task, which begins with the page's own numbers.
    turn(to) {
      this.hint.open = false;
      this.reset(String(to + 1));
    }

    // Show the task, and what the state says to it.
    judge() {
      const task = tasks[this.current];
      const answer = task.check(this.now, this.first);
      if (answer === true) {
        solved.add(task.name);
        task.lesson = `✓ ${task.learned(this.now, this.first)}`;
      }
      const isSolved = solved.all.has(task.name);
      const { count, ask, answer: place, hint } = this.parts;
      const text = isSolved ? (task.lesson ?? "✓ Solved.") : answer || "";
      if (place.textContent !== text) place.textContent = text;
      count.textContent = `Task ${this.state.task} of ${tasks.length} · ${solved.all.size} solved`;
      if (ask.innerHTML !== task.ask) ask.innerHTML = task.ask;
      hint.innerHTML = task.hint;
      this.hint.hidden = isSolved;
      this.hail.textContent = answer === true ? `✓ That answers the task. ${task.lesson.match(/^✓ (.*?[.:])( |$)/)[1]}` : "";
    }

    asked() {
      const place = Number(this.state.word) - 1;
      return { place, word: this.given.words[place], shares: row(this.now.attn_weights, place) };
    }

    render() {
      if (!this.body.isConnected) return;
      const { place, shares } = this.asked();
      this.words.forEach((label, i) => {
        label.classList.toggle("explorer-asks", i === place);
        label.firstChild.checked = i === place;
        label.lastChild.textContent = percent(this.now, place, i);
      });
      selfattn.bows(this.arcs, shares, place, 32);
      for (const field of this.body.querySelectorAll(".explorer-choice input"))
        field.checked = field.value === this.state[field.name.slice(this.id.length + 1)];
      for (const table of this.body.querySelectorAll("table")) this.fill(table, place);
      this.edit();
      this.explain();
      if (this.hint) this.judge();
      if (this.chosen) this.place(this.chosen);
    }

    fill(table, place) {
      const { step } = table.dataset;
      const { name, sign, words } = TENSORS[step];
      const symbol =
        { masked: `Ω / ${DIVISORS[this.state.divisor]}`, attn_weights: `${sign}, softmax along ${this.state.axis}s` }[step] ?? sign;
      const of = this.now[step];
      const largest = Math.max(...this.now.attn_weights.data.filter((share) => share >= 0));
      [...table.tBodies[0].rows].forEach((line, i) => {
        line.classList.toggle("explorer-asks", Boolean(words) && i === place);
        for (let j = 0; j < of.columns; j++) this.write(step, i, j, largest);
      });
      table.caption.innerHTML = `${name} <span class="explorer-sign">${symbol}</span>`;
    }

    // Write a number into its cell: embeddings as they are given, wide tables short on a phone.
    write(step, i, j, largest) {
      const cell = this.cells.get(`${step} ${i} ${j}`);
      const number = at(this.now[step], i, j);
      const isShort = (narrow.matches && this.now[step].columns === 6) || (step === "inputs" && Number(number.toFixed(2)) === number);
      const text = minus(printed(number, isShort ? 2 : 4));
      if (cell.textContent !== text) {
        if (cell.firstChild && !calm.matches) cell.animate({ boxShadow: CHANGED }, 2500);
        cell.textContent = text;
      }
      const share = Math.round(100 * ((number / largest) ** 1.6 || 0));
      if (step === "attn_weights") cell.style.setProperty("--share", `${share}%`);
      cell.classList.toggle("explorer-changed", selfattn.entry(step, i, j) in this.state);
    }
  }

  customElements.define("attention-explorer", AttentionExplorer);
})();
