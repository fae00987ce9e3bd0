// The element <attention-explorer>: tables of every step, and controls that change what is in them.
//
// All explorers of a page show one state, which is in the page's address where it is not the one
// that the page starts with. What a reader sees is built when it is first unfolded.
(() => {
  const { selfattn } = globalThis;
  const { percent, printed, trace, tasks, total, at, row } = selfattn;
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
    attn_weights: { letter: "<i>α</i>", name: "Attention weights", role: "weight", words: "both" },
    context_vecs: { sign: "<b>Z</b> = <b>AV</b>", letter: "<b>z</b>", name: "Context vectors", role: "value", words: "rows" },
  };
  const GIVEN = ["inputs", "W_query", "W_key", "W_value"];
  const BETWEEN = ["queries", "keys", "values", "attn_scores", "masked"];
  const RESULTS = ["attn_weights", "context_vecs"];
  const DIVISORS = { sqrt: "√<i>d</i><sub>k</sub>", 1: "1", d_k: "<i>d</i><sub>k</sub>" };
  const CHOICES = [
    { name: "divisor", legend: "Divide scores by", of: "masked", options: DIVISORS },
    { name: "mask", legend: "Mask", of: "masked", options: { none: "none", causal: "causal" } },
    { name: "axis", legend: "Softmax along", of: "attn_weights", options: { row: "rows", column: "columns" } },
    { name: "drawn", legend: "Draw with", of: "W_query", options: { rand: "torch.rand", linear: "nn.Linear" } },
  ];
  const UNCERTAIN = "its last digit may differ on another computer";

  const minus = (text) => text.replaceAll("-", "−");
  const shaded = (share) => `${Math.round(100 * (share || 0))}%`;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  function make(kind, attributes = {}, ...children) {
    const element = document.createElement(kind);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "html") element.innerHTML = value.replace(/>\s+</g, "><");
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  // The state that a page's explorers share.
  const page = {
    explorers: [],

    open(first) {
      this.book = first.given;
      const { changes, fault } = selfattn.read(first.given.start);
      if (fault) throw new Error(`:start: of ${first.id}: ${fault}`);
      this.start = { ...selfattn.USUAL, ...changes };
      this.first = selfattn.compute(this.start, this.book.inputs);
      this.follow();
      addEventListener("hashchange", () => this.follow());
    },

    // Show what the address says, and say so if it says nothing that can be shown.
    follow() {
      const { id, changes, fault } = selfattn.follow(location.hash);
      for (const explorer of this.explorers) explorer.say("");
      if (!id && this.now) return;
      this.state = { ...this.start, ...changes };
      this.show();
      const named = () =>
        this.explorers.find((explorer) => explorer.id === id) ?? this.explorers[0];
      if (id) queueMicrotask(() => named().arrive(fault));
    },

    show() {
      this.now = selfattn.compute(this.state, this.book.inputs);
      for (const explorer of this.explorers) explorer.render();
    },

    change(changes, by) {
      const state = { ...this.state, ...changes };
      for (const name of Object.keys(changes))
        if (this.isOriginal(name, state[name])) delete state[name];
      this.state = state;
      this.show();
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.address(by), 150); // browsers forbid it at each drag
      by.changed();
    },

    // An embedding's number that is the book's again is no change.
    isOriginal(name, value) {
      return name[0] === "x" && this.book.inputs[name[1] - 1][name[2] - 1] === Number(value);
    },

    // Put what is shown into the address.
    address(by) {
      const text = selfattn.write(this.state, this.start);
      const address = text ? `#${by.id}?${text}` : location.pathname + location.search;
      history.replaceState(null, "", address);
    },

    // The page's own numbers again; which tasks are solved is kept.
    reset(by, task = this.state.task) {
      this.state = { ...this.start, task, solved: this.state.solved };
      this.change({}, by);
    },
  };

  class AttentionExplorer extends HTMLElement {
    connectedCallback() {
      this.given = JSON.parse(this.dataset.given);
      this.shown = this.given.show;
      this.cells = new Map();
      this.body = make("div", { class: "explorer" });
      page.explorers.push(this);
      if (!page.now) page.open(this);
      const fold = this.querySelector(":scope > details");
      if (!fold) return this.build(this);
      fold.addEventListener("toggle", () => fold.open && this.build(fold));
      if (fold.open) this.build(fold);
    }

    // A link has led here.
    arrive(fault) {
      const fold = this.querySelector(":scope > details");
      if (fold) fold.open = true;
      this.build(fold ?? this);
      this.scrollIntoView();
      if (fault)
        this.say(`This link can’t be read: ${fault}. The explorer shows the page’s own numbers.`);
    }

    /* What is there */

    build(into) {
      if (this.body.isConnected) return;
      const tables = (names) => names.filter((name) => this.shown.includes(name)).map((name) => this.table(name));
      const between = make("div", { class: "explorer-tables" }, ...tables(BETWEEN));
      this.body.append(
        make(
          "div",
          { class: "explorer-side" },
          ...(this.given.tasks ? [this.task()] : []),
          this.sentence(),
          make("div", { class: "explorer-results" }, ...tables(RESULTS)),
          this.bar(),
        ),
        make(
          "div",
          { class: "explorer-inputs" },
          this.settings(),
          make("div", { class: "explorer-tables" }, ...tables(GIVEN)),
          into === this
            ? make("details", { class: "explorer-between" }, make("summary", {}, "The steps between"), between)
            : between,
        ),
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
      this.words = [...box.querySelectorAll("label")];
      this.words.forEach((label, i) => label.children[1].append(page.book.words[i]));
      this.arcs = [...box.querySelectorAll("path")];
      return box;
    }

    settings() {
      const seed = make("fieldset", {
        class: "explorer-choice",
        html: `<legend>Seed</legend><div class="explorer-options">
          <input type="text" inputmode="numeric" aria-label="Seed" autocomplete="off"
          maxlength="10" size="6"></div>`,
      });
      this.seed = seed.querySelector("input");
      const change = (by) => () => this.setSeed(Number(page.state.seed) + by);
      this.seed.before(this.button("−", change(-1), "The seed before"));
      this.seed.after(this.button("+", change(1), "The next seed"));
      this.choices = CHOICES.filter(({ of }) => this.shown.includes(of));
      return make(
        "div",
        { class: "explorer-settings" },
        seed,
        ...this.choices.map((each) => this.choice(each)),
        make(
          "div",
          { class: "explorer-options explorer-tools" },
          this.button("Reset", () => {
            page.reset(this);
            this.say("These are the page’s own numbers again.");
          }),
        ),
      );
    }

    choice({ name, legend, options }) {
      const fields = Object.entries(options).map(
        ([value, html]) =>
          `<label><input type="radio" name="${this.id}-${name}" value="${value}"><span>${html}</span></label>`,
      );
      return make("fieldset", {
        class: "explorer-choice",
        html: `<legend>${legend}</legend><div class="explorer-options">${fields.join("")}</div>`,
      });
    }

    button(text, press, name = "") {
      const button = make("button", { type: "button", "aria-label": name || false }, text);
      button.addEventListener("click", press);
      return button;
    }

    task() {
      const box = make("div", {
        class: "explorer-task",
        role: "group",
        "aria-label": "Tasks",
        html: `<div class="explorer-head"><p class="explorer-count"></p><p class="explorer-dots" aria-hidden="true"></p>
          <div class="explorer-options"></div></div>
          <p class="explorer-ask" tabindex="-1"></p><p class="explorer-answer" role="status"></p>
          <details><summary>Hint</summary><p></p></details>`,
      });
      const [count, dots, ask, answer, hint] = box.querySelectorAll("p");
      dots.append(...tasks.map(() => make("i")));
      this.onward = this.button("", () => {
        this.turn(this.unsolved());
        ask.focus({ preventScroll: true });
      });
      answer.after(this.onward);
      this.parts = { count, dots, ask, answer, hint };
      this.hint = box.lastChild;
      const move = (by) => () => this.turn((this.current + by + tasks.length) % tasks.length);
      dots.nextSibling.append(
        this.button("‹", move(-1), "Previous task"),
        this.button("›", move(1), "Next task"),
      );
      this.clear(box, "--task");
      return box;
    }

    table(name) {
      const { role, words, name: title } = TENSORS[name];
      const of = page.now[name];
      const head = make("tr", {}, make("td"));
      for (let j = 0; j < of.columns; j++)
        head.append(
          make("th", { scope: "col" }, words === "both" ? page.book.words[j] : String(j + 1)),
        );
      if (name === "attn_weights") head.append(make("th", { scope: "col", class: "explorer-sum" }, "sum"));
      const body = make("tbody");
      for (let i = 0; i < of.rows; i++) body.append(this.line(name, i));
      if (name === "attn_weights")
        body.append(
          make(
            "tr",
            { class: "explorer-sums" },
            make("th", { scope: "row" }, "sum"),
            ...INDEX.map(() => make("td")),
            make("td"),
          ),
        );
      const table = make(
        "table",
        {
          role: "grid",
          "aria-label": title,
          class: `explorer-table role-${role}`,
          "data-step": name,
        },
        make("caption"),
        make("thead", {}, head),
        body,
      );
      return make("div", { class: "explorer-scroll" }, table);
    }

    line(name, i) {
      const { words } = TENSORS[name];
      const line = make(
        "tr",
        {},
        make("th", { scope: "row" }, words ? page.book.words[i] : String(i + 1)),
      );
      for (let j = 0; j < page.now[name].columns; j++) {
        const cell = make("td", { tabindex: i + j ? -1 : 0 });
        Object.assign(cell, { step: name, i, j });
        if (selfattn.entry(name, i, j)) cell.className = "explorer-open";
        this.cells.set(`${name} ${i} ${j}`, cell);
        line.append(cell);
      }
      if (name === "attn_weights") line.append(make("td", { class: "explorer-sum" }));
      return line;
    }

    bar() {
      const bar = make("div", {
        class: "explorer-bar",
        html: `<p class="explorer-strip" aria-hidden="true"></p>
          <p class="explorer-trace" id="${this.id}-trace"></p>
          <p class="explorer-message" role="status"></p>
          <div class="explorer-editor" hidden>
          <input type="text" inputmode="decimal" autocomplete="off" maxlength="9" size="7">
          <input type="range" min="-2" max="2" step="0.01"></div>
          <p class="visually-hidden" role="status"></p>`,
      });
      [this.strip, this.trace, this.message, this.live] = bar.querySelectorAll("p");
      this.editor = bar.querySelector(".explorer-editor");
      [this.field, this.slider] = this.editor.children;
      this.hide = this.button("", () => this.toggle(this.chosen));
      this.hide.hidden = true;
      this.editor.after(this.hide);
      // The number that a button changes keeps the focus, in browsers that focus no button, too.
      bar.addEventListener(
        "mousedown",
        (event) => event.target.closest("button") && event.preventDefault(),
      );
      this.clear(bar, "--bar");
      return bar;
    }

    /* What readers do */

    listen() {
      const cellOf = (event) => {
        const cell = event.target.closest("td");
        return cell?.step ? cell : null;
      };
      // Where the page scrolls below a resting pointer, nothing is touched.
      this.body.addEventListener("pointermove", (event) => {
        const cell = cellOf(event);
        if (event.pointerType !== "touch" && cell !== this.under) this.touch(cell);
        this.under = cell;
      });
      this.body.addEventListener("pointerleave", () => {
        this.under = null;
        this.touch(null);
      });
      this.body.addEventListener("click", (event) =>
        cellOf(event)?.focus({ preventScroll: true }),
      );
      this.body.addEventListener("focusin", (event) => {
        const cell = cellOf(event);
        if (cell) this.choose(cell);
        else if (!event.target.closest(".explorer-bar")) this.choose(null);
      });
      this.body.addEventListener(
        "focusout",
        (event) => {
          if (!document.hasFocus()) return;
          if (event.target === this.field) this.commit();
          if (!this.body.contains(event.relatedTarget)) this.choose(null);
        },
      );
      this.body.addEventListener("keydown", (event) => this.key(event, cellOf(event)));
      this.body.addEventListener("change", (event) => this.pick(event.target));
      this.slider.addEventListener("input", () => this.set(this.slider.value));
      // Who touches the field wants to type another number.
      this.field.addEventListener("pointerdown", () => {
        if (!this.field.matches(":focus"))
          this.field.addEventListener("click", () => this.field.select(), { once: true });
      });
    }

    pick(control) {
      if (control === this.seed) this.setSeed(control.value.trim());
      else if (control === this.field) this.commit();
      else if (control.type === "radio") {
        const name = control.name.slice(this.id.length + 1);
        page.change({ [name]: control.value }, this);
      }
    }

    setSeed(wanted) {
      const seed = String(wanted);
      const fault = selfattn.fault("seed", seed);
      if (!fault) return page.change({ seed: String(Number(seed)) }, this);
      this.seed.value = page.state.seed;
      this.say(`The seed must be ${fault}, not “${seed}”.`);
    }

    // Take the text of the field, unless it is what was there.
    commit() {
      if (this.field.value !== this.written) this.type(this.field.value);
    }

    // Take what was typed: a comma and a minus sign are understood, too.
    type(text) {
      const value = text
        .trim()
        .replace(",", ".")
        .replace("−", "-")
        .replace(/^(-?)\.(?=\d)/, "$10.")
        .replace(/\.$/, "");
      if (!this.set(value)) this.refuse(value, text);
    }

    refuse(value, text) {
      this.edit();
      const wanted = selfattn.fault("x11", value);
      const fault = `An entry must be ${wanted}, not “${text}”.`;
      setTimeout(() => this.say(fault)); // the focus may be moving: that clears what is said
    }

    set(value) {
      const name = this.chosen && selfattn.entry(this.chosen.step, this.chosen.i, this.chosen.j);
      if (!name || selfattn.fault(name, value)) return false;
      page.change({ [name]: String(Number(value)) }, this);
      return true;
    }

    toggle({ i, j }) {
      page.change({ mask: selfattn.toggle(page.state.mask, `${i + 1}${j + 1}`) }, this);
    }

    key(event, cell) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && this.chosen) {
        if (cell) cell.blur();
        else {
          this.edit(); // as it was
          this.chosen.focus();
        }
      } else if (event.target === this.seed && /^Arrow(Up|Down)$/.test(event.key)) {
        this.setSeed(Number(page.state.seed) + (event.key === "ArrowUp" ? 1 : -1));
      } else if (event.target.type === "text" && event.key === "Enter") {
        this.pick(event.target);
        return;
      } else if (!cell || !this.move(event, cell)) return;
      event.preventDefault();
    }

    // Move in a table, or take up the number that the focus is on; return whether the key did.
    move({ key }, cell) {
      const { step, i, j } = cell;
      const { rows, columns } = page.now[step];
      const [down, right] = {
        ArrowUp: [-1, 0],
        ArrowDown: [1, 0],
        ArrowLeft: [0, -1],
        ArrowRight: [0, 1],
      }[key] ?? [0, 0];
      const to = { Home: [i, 0], End: [i, columns - 1] }[key] ?? [i + down, j + right];
      const next = this.cells.get(
        `${step} ${Math.min(Math.max(to[0], 0), rows - 1)} ${Math.min(Math.max(to[1], 0), columns - 1)}`,
      );
      if (/^(Arrow|Home$|End$)/.test(key)) {
        next.focus();
        return true;
      }
      if (/^(masked|attn_weights)$/.test(step) && (key === "Enter" || key === " ")) {
        this.toggle(cell);
        return true;
      }
      if (!cell.classList.contains("explorer-open") || !/^(Enter|F2|[-−.,\d])$/.test(key))
        return false;
      this.field.focus();
      if (/^(Enter|F2)$/.test(key)) this.field.select();
      else this.field.value = key;
      return true;
    }

    /* What readers see */

    // The pointer is on a cell.
    touch(cell) {
      this.touched = cell;
      this.explain();
    }

    // A cell has the focus, or what changes it has.
    choose(cell) {
      if (cell === this.chosen) return;
      this.chosen?.removeAttribute("aria-describedby");
      this.chosen = cell;
      this.touched = null;
      if (cell) {
        for (const other of cell.closest("table").querySelectorAll("td[tabindex='0']"))
          other.tabIndex = -1;
        cell.tabIndex = 0;
        cell.setAttribute("aria-describedby", this.trace.id);
      }
      this.say("");
      this.explain();
      this.edit();
    }

    // What stays in sight may grow: it must not cover the cell that has the focus.
    clear(part, name) {
      new ResizeObserver(() => {
        this.body.style.setProperty(name, `${part.offsetHeight}px`);
        if (this.chosen?.matches(":focus") && !this.touched)
          this.chosen.scrollIntoView({ block: "nearest" });
      }).observe(part);
    }

    edit() {
      const cell = this.chosen;
      const isOpen = Boolean(cell?.classList.contains("explorer-open"));
      this.editor.hidden = !isOpen;
      this.hide.hidden = !/^(masked|attn_weights)$/.test(cell?.step);
      if (!cell) return;
      if (!this.hide.hidden) {
        const isHidden = selfattn.hidden(page.state.mask).has(`${cell.i + 1}${cell.j + 1}`);
        this.hide.textContent = isHidden ? "Show this score again" : "Hide this score";
      }
      if (!isOpen) return;
      const number = at(page.now[cell.step], cell.i, cell.j);
      const name = this.nameOf(cell);
      this.field.value = this.written = minus(String(Number(number.toFixed(4))));
      this.slider.value = number;
      this.field.setAttribute("aria-label", name);
      this.slider.setAttribute("aria-label", `${name}, slider`);
    }

    nameOf({ step, i, j }) {
      const { name, words } = TENSORS[step];
      const line = words ? `“${page.book.words[i]}”` : `row ${i + 1}`;
      return `${name}, ${line}, ${words === "both" ? `“${page.book.words[j]}”` : `column ${j + 1}`}`;
    }

    // Say how the number was made, and light what it came from.
    explain() {
      const cell = this.touched ?? this.chosen;
      for (const lit of this.body.querySelectorAll(".explorer-lit, .explorer-on"))
        lit.classList.remove("explorer-lit", "explorer-on");
      if (!cell) {
        this.trace.textContent = this.invitation();
        return;
      }
      cell.classList.add("explorer-on");
      const { step, i, j } = cell;
      const made = trace(step === "masked" ? "scaled" : step, i, j, page.now);
      for (const term of made.terms.flat())
        this.cells.get(`${term.step} ${term.i} ${term.j}`)?.classList.add("explorer-lit");
      this.trace.innerHTML = `${this.signOf(cell)} = <span></span>`;
      this.trace.lastChild.textContent = this.origin(made, cell);
    }

    invitation() {
      const open = [
        ...(this.shown.includes("inputs") ? ["embeddings"] : []),
        ...(this.shown.some((name) => name[0] === "W") ? ["matrices"] : []),
      ];
      return [
        "Touch a number to see how it was made; the arrow keys move, Enter changes.",
        open.length ? `The ${open.join(" and the ")} can be changed.` : "",
        this.shown.includes("masked") ? "Scores can be hidden from softmax." : "",
      ].join(" ");
    }

    origin(made, { step, i, j }) {
      const known = /≈\S/.test(made.text) ? ` (≈ ${UNCERTAIN})` : "";
      if (step === "masked" && at(page.now.masked, i, j) === -Infinity)
        return `−inf: the mask hides this score, which is ${minus(made.text)}${known}`;
      return minus(made.text) + known;
    }

    signOf({ step, i, j }) {
      const { sign, letter, words } = TENSORS[step];
      if (words === "both") return `${letter}<sub>${i + 1}${j + 1}</sub>`;
      return words
        ? `${letter}<sup>(${i + 1})</sup><sub>${j + 1}</sub>`
        : `${sign}[${i + 1}, ${j + 1}]`;
    }

    say(text) {
      if (!this.message) return;
      this.message.textContent = text;
      this.trace.hidden = Boolean(text);
    }

    announce(text) {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => {
        this.live.textContent = text;
      }, 500);
    }

    // A change was made here.
    changed() {
      this.say("");
      const { place, word, shares } = this.asked();
      const most = shares.indexOf(Math.max(...shares));
      const isEven = shares[most] - Math.min(...shares) < 1e-6;
      const [gives, to] = isEven ? ["the same", "all"] : ["most", `“${page.book.words[most]}”`];
      this.announce(
        most < 0
          ? `“${word}” has no shares: nan.`
          : `“${word}” gives ${gives} to ${to}, ${percent(page.now, place, most)}.`,
      );
    }

    get current() {
      return Number(page.state.task) - 1;
    }

    get solved() {
      return new Set(page.state.solved.split(".").filter(Boolean));
    }

    // Turn to another task, which begins with the page's own numbers, none of them tinted. What is
    // below the panel stays where it is, though the new task has no answer yet.
    turn(to) {
      const top = () => this.words[0].getBoundingClientRect().top;
      const before = top();
      this.hint.open = false;
      page.reset(this, String(to + 1));
      for (const cell of this.cells.values()) cell.getAnimations().forEach((each) => each.finish());
      window.scrollBy({ top: top() - before, behavior: "instant" });
      this.announce(this.parts.ask.textContent);
    }

    // The place of the next task that isn't solved, or -1.
    unsolved() {
      const places = tasks.map((_, i) => (this.current + 1 + i) % tasks.length);
      return places.find((place) => !this.solved.has(String(place + 1))) ?? -1;
    }

    // Show the task, and what the state says to it: in one place.
    judge() {
      const task = tasks[this.current];
      const answer = task.check(page.now, page.first);
      if (answer === true) {
        page.state.solved = [...this.solved.add(page.state.task)].join(".");
        task.lesson = `✓ ${task.learned(page.now, page.first)}`;
      }
      const { count, dots, ask, answer: place, hint } = this.parts;
      const { solved } = this;
      const isSolved = solved.has(page.state.task);
      const next = this.unsolved();
      const end = next < 0 ? ` That was the last: all ${tasks.length} tasks are solved.` : "";
      const text = isSolved ? (task.lesson ?? "✓ Solved.") + end : answer || "";
      if (place.textContent !== text) place.textContent = text;
      count.textContent = `Task ${page.state.task} of ${tasks.length}`;
      count.append(make("span", { class: "visually-hidden" }, ` · ${solved.size} solved`)); // as the dots say
      [...dots.children].forEach((dot, i) => {
        dot.classList.toggle("explorer-done", solved.has(String(i + 1)));
        dot.classList.toggle("explorer-now", i === this.current);
      });
      if (ask.innerHTML !== task.ask) ask.innerHTML = task.ask;
      hint.innerHTML = task.hint;
      this.hint.hidden = isSolved;
      this.onward.hidden = !isSolved || next < 0;
      this.onward.textContent = `Go on to task ${next + 1}`;
    }

    asked() {
      const place = Number(page.state.word) - 1;
      return { place, word: page.book.words[place], shares: row(page.now.attn_weights, place) };
    }

    /* What has changed */

    render() {
      if (!this.body.isConnected) return;
      const { word, place, shares } = this.asked();
      this.words.forEach((label, i) => {
        label.classList.toggle("explorer-asks", i === place);
        label.firstChild.checked = i === place;
        label.lastChild.textContent = percent(page.now, place, i);
      });
      selfattn.bows(this.arcs, shares, place, 32);
      this.summarize(word, place, shares);
      this.seed.value = page.state.seed;
      for (const { name } of this.choices) {
        for (const field of this.body.querySelectorAll(`[name="${this.id}-${name}"]`))
          field.checked = field.value === page.state[name];
      }
      for (const table of this.body.querySelectorAll("table")) this.fill(table, place);
      this.edit();
      this.explain();
      if (this.hint) this.judge();
    }

    // In the bar, so that a change is seen wherever one is: the shares, and what they lead to.
    summarize(word, place, shares) {
      const context = [0, 1].map((j) => minus(printed("context_vecs", place, j, page.now)));
      this.strip.replaceChildren(
        `${word}:\u00a0`,
        ...shares.map((share, i) =>
          make("span", { style: `--share: ${shaded(share)}` }, percent(page.now, place, i)),
        ),
        make("span", { html: `<b>z</b><sup>(${place + 1})</sup> = ${context.join(", ")}` }),
      );
    }

    fill(table, place) {
      const { step } = table.dataset;
      const { name, sign, words } = TENSORS[step];
      const divisor = DIVISORS[page.state.divisor];
      const symbol =
        { masked: `Ω / ${divisor}`, attn_weights: `<b>A</b>, softmax along ${page.state.axis}s` }[
          step
        ] ?? sign;
      const of = page.now[step];
      this.most = Math.max(...page.now.attn_weights.data.filter((share) => share >= 0));
      let certain = true;
      const lines = [...table.tBodies[0].rows];
      for (let i = 0; i < of.rows; i++) {
        lines[i].classList.toggle("explorer-asks", Boolean(words) && i === place);
        for (let j = 0; j < of.columns; j++) certain = this.write(step, i, j) && certain;
      }
      if (step === "attn_weights") this.sums(lines);
      table.caption.innerHTML = `${name} <span class="explorer-sign">${symbol}</span>${
        certain
          ? ""
          : `<span class="explorer-note">≈ ${UNCERTAIN}</span>`
      }`;
    }

    // Write a number into its cell; return whether all computers print it so.
    write(step, i, j) {
      const cell = this.cells.get(`${step} ${i} ${j}`);
      const number = at(page.now[step], i, j);
      const text = minus(printed(step, i, j, page.now));
      const certain = text[0] !== "≈";
      const known = certain ? "" : `, ${UNCERTAIN}`;
      if (cell.textContent !== text + known) {
        if (cell.firstChild) this.tint(cell);
        cell.replaceChildren(text, make("span", { class: "visually-hidden" }, known));
      }
      if (step === "attn_weights") cell.style.setProperty("--share", shaded((number / this.most) ** 1.6));
      cell.classList.toggle("explorer-changed", selfattn.entry(step, i, j) in page.state);
      return certain;
    }

    // For a moment, what has changed is tinted, and shows what it was.
    tint(cell) {
      if (calm.matches) return;
      cell.dataset.was ??= cell.firstChild.data;
      for (const before of cell.getAnimations()) before.cancel();
      const colour = "color-mix(in srgb, var(--pst-color-target) 85%, var(--role))";
      cell.animate({ backgroundColor: [colour, colour, getComputedStyle(cell).backgroundColor] }, 2500)
        .onfinish = () => delete cell.dataset.was;
    }

    sums(lines) {
      INDEX.forEach((i) => {
        lines[i].lastChild.textContent = "= " + total(page.now, INDEX.map((k) => [i, k]));
        lines[6].cells[i + 1].textContent = total(page.now, INDEX.map((k) => [k, i]));
      });
    }
  }

  customElements.define("attention-explorer", AttentionExplorer);
})();
