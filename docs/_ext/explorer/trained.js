/* <trained-attention>: a trained model whose sentence and heads a reader changes.
 *
 * It computes what `selfattn.trained.TwoHeads` does, for the word after one place;
 * `tests/test_site_explorer.py` compares what it shows with torch.
 */
"use strict";

(() => {
  const [WIDTH, HEADS, SIZE] = [16, 2, 2];
  const [NOUN, VERB] = [1, 6];
  // The places of what is predicted, and of the words that may be changed.
  const ASKED = { verb: VERB, pronoun: 9 };
  const OPEN = { 0: "Name", 1: "First noun", 2: "Preposition", 4: "Second noun", 5: "Adverb", 7: "Adjective" };

  const count = (n) => [...Array(n).keys()];
  const dot = (one, other) => one.reduce((sum, x, n) => sum + x * other[n], 0);
  const linear = (matrix, x, bias) => matrix.map((row, n) => dot(row, x) + (bias?.[n] ?? 0));
  const softmax = (scores) => {
    const exps = scores.map((x) => Math.exp(x - Math.max(...scores)));
    const sum = exps.reduce((before, x) => before + x);
    return exps.map((x) => x / sum);
  };

  /** The weights of each head at the last of some words, and the chance of each word to follow. */
  function predict(parameters, ids, isOn, vocabulary) {
    let start = 0;
    const matrix = (rows, columns) =>
      count(rows).map(() => parameters.slice(start, (start += columns)));
    const words = matrix(vocabulary, WIDTH);
    const places = matrix(10, WIDTH);
    const layers = count(3).map(() => matrix(HEADS * SIZE, WIDTH));
    const [join, [joinBias]] = [matrix(HEADS * SIZE, HEADS * SIZE), matrix(1, HEADS * SIZE)];
    const [last, [lastBias]] = [matrix(vocabulary, WIDTH + HEADS * SIZE), matrix(1, vocabulary)];

    const x = ids.map((id, place) => words[id].map((number, n) => number + places[place][n]));
    const heads = count(HEADS).map((head) => {
      const [queries, keys, values] = layers.map((layer) =>
        x.map((row) => linear(layer.slice(SIZE * head, SIZE * (head + 1)), row)),
      );
      const shares = softmax(keys.map((key) => dot(queries.at(-1), key) / Math.sqrt(SIZE)));
      const context = count(SIZE).map((n) => dot(shares, values.map((value) => value[n])));
      return { shares, context: context.map((number) => (isOn[head] ? number : 0)) };
    });
    const brought = linear(join, heads.flatMap(({ context }) => context), joinBias);
    const chances = softmax(linear(last, [...x.at(-1), ...brought], lastBias));
    return { shares: heads.map(({ shares }) => shares), chances };
  }

  /** What is shown: the words that are read, each head's shares of them, and what may follow. */
  function view({ words, slots, parameters: wholes, scale }, { text, asked, isOn }) {
    const isPlural = slots[NOUN].indexOf(text[NOUN]) >= slots[NOUN].length / 2;
    const agreeing = text.map((word, place) => (place === VERB ? slots[VERB][Number(isPlural)] : word));
    const read = agreeing.slice(0, ASKED[asked]);
    const ids = read.map((word) => words.indexOf(word));
    const parameters = wholes.map((whole) => whole / scale);
    const { shares, chances } = predict(parameters, ids, isOn, words.length);
    const forms = slots[ASKED[asked]].map((word) => [word, chances[words.indexOf(word)]]);
    const others = forms.reduce((rest, [, chance]) => rest - chance, 1);
    const likeliest = words[chances.indexOf(Math.max(...chances))];
    return { read, shares, likeliest, chances: [...forms, ["any other", Math.max(0, others)]] };
  }

  class TrainedAttention extends HTMLElement {
    connectedCallback() {
      if (this.given) return;
      this.given = JSON.parse(this.dataset.given);
      (this.querySelector("details") ?? this).append(this.build());
      this.show();
    }

    build() {
      const { controls, slots, text } = this.given;
      const has = (name) => controls.includes(name);
      const box = document.createElement("div");
      box.className = "explorer explorer-trained";
      const asks = Object.keys(ASKED).map((asked) =>
        `<label><input type="radio" name="asked" value="${asked}"><span>the ${asked}</span></label>`);
      const head = (name) => `<th scope="col">${has("heads") ? `<label><input type="checkbox" checked>${name} head</label>` : `${name} head`}</th>`;
      const words = (place) => slots[place].map((word) => `<option>${word}</option>`).join("");
      const rows = text.slice(0, -1).map((word, place) => {
        const field = OPEN[place] && `<select aria-label="${OPEN[place]}">${words(place)}</select>`;
        return `<tr><td></td><th scope="row">${field ?? word}</th><td></td></tr>`;
      });
      const arcs = `<svg preserveAspectRatio="none" aria-hidden="true"><g>${"<path/>".repeat(rows.length)}</g></svg>`;
      const choice = `<fieldset class="explorer-choice"><legend>Predict</legend><div class="explorer-options">${asks.join("")}</div></fieldset>`;
      box.innerHTML = `<div class="explorer-settings">${has("asked") ? choice : ""}</div>
        <div class="explorer-heads"><table><thead><tr>${head("First")}<td></td>${head("Second")}</tr></thead>
        <tbody>${rows.join("")}</tbody></table>${arcs}${arcs}</div>
        <button type="button"></button><p role="status"></p>`;
      const all = (selector) => [...box.querySelectorAll(selector)];
      this.parts = { asks: all("[type=radio]"), heads: all("[type=checkbox]"), rows: all("tbody tr"), arcs: all("svg") };
      [this.other, this.status] = [...all("button"), ...all("p")];
      if (has("asked")) this.parts.asks[0].checked = true;
      for (const [place, row] of this.parts.rows.entries())
        if (OPEN[place]) row.querySelector("select").value = text[place];
      box.addEventListener("input", () => this.show());
      this.other.addEventListener("click", () => {
        this.parts.rows[NOUN].querySelector("select").value = this.otherNoun();
        this.show();
      });
      return box;
    }

    // The first noun in the other number: the slot has all singulars, then all plurals.
    otherNoun() {
      const nouns = this.given.slots[NOUN];
      const place = nouns.indexOf(this.state().text[NOUN]) + nouns.length / 2;
      return nouns[place % nouns.length];
    }

    // What the controls say.
    state() {
      const { asks, heads, rows } = this.parts;
      return {
        text: rows.map((row, place) => row.querySelector("select")?.value ?? this.given.text[place]),
        asked: asks.find((radio) => radio.checked)?.value ?? "verb",
        isOn: [0, 1].map((head) => heads[head]?.checked ?? true),
      };
    }

    show() {
      const state = this.state();
      const { read, shares, likeliest, chances } = view(this.given, state);
      const place = read.length - 1;
      const { rows, arcs } = this.parts;
      rows.forEach((row, n) => {
        row.hidden = n > place + 1;
        row.className = n === place ? "explorer-asks" : n > place ? "explorer-next" : "";
        if (!OPEN[n]) row.cells[1].textContent = read[n] ?? likeliest;
        shares.forEach((head, side) => {
          row.cells[2 * side].textContent = head[n]?.toFixed(2) ?? "";
        });
      });
      shares.forEach((head, side) => {
        const bulge = side ? "0 1 -1 0 60 0" : "0 1 1 0 0 0"; // to the side, away from the words
        arcs[side].setAttribute("viewBox", `0 0 60 ${60 * (place + 2)}`);
        arcs[side].style.setProperty("--rows", place + 2);
        arcs[side].firstChild.setAttribute("transform", `matrix(${bulge})`);
        arcs[side].classList.toggle("explorer-off", !state.isOn[side]);
        selfattn.bows([...arcs[side].querySelectorAll("path")], head, place, 12);
      });
      this.other.textContent = `Change “${state.text[NOUN]}” to “${this.otherNoun()}”`;
      this.say(state, read, shares, likeliest, chances);
    }

    // In words what the bows show, and what the model makes of it.
    say({ asked, isOn }, read, shares, likeliest, chances) {
      const looks = shares.map((head) => {
        const most = Math.max(...head);
        return `“${read[head.indexOf(most)]}” (${most.toFixed(2)})`;
      });
      const off = isOn.map((on) => (on ? "" : ", which is off,"));
      const [seen, rest] = [chances.slice(0, -1), chances.at(-1)];
      const odds = (rest[1] < 0.005 ? seen : chances).map(([word, chance]) => `${word} ${chance.toFixed(2)}`).join(", ");
      const known = this.given.right[2 * isOn[0] + Number(isOn[1])][asked === "verb" ? 0 : 1].toFixed(2);
      const isAll = this.given.controls.length > 1;
      this.status.textContent =
        `From “${read.at(-1)}”, the first head${off[0]} looks most at ${looks[0]}, the second${off[1]} at ${looks[1]}. ` +
        `The model predicts “${likeliest}” (${odds}).` +
        (isAll ? ` Of all held-out ${asked}s it gets ${known} right.` : "");
    }
  }

  selfattn.view = view;
  customElements.define("trained-attention", TrainedAttention);
})();
