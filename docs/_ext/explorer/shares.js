/* Bows as thick as shares, which every explorer draws, and the small explorer of the first page:
 * <attention-shares>: choose a word, and see its six shares as arcs, bars and numbers.
 *
 * The weights are the build's; the figure within is for readers without scripts.
 */
"use strict";

Object.assign((globalThis.selfattn ??= {}), {
  /** Draw bows from one word to each, 60 apart, or a loop to itself. */
  bows(paths, shares, from, thickest) {
    const start = 60 * from + 30;
    paths.forEach((path, n) => {
      const end = 60 * n + 30;
      path.style.strokeWidth = `${thickest * (shares[n] || 0)}px`;
      path.setAttribute("d", start === end
        ? `M${start - 7} 60C${start - 26} 12 ${start + 26} 12 ${start + 7} 60`
        : `M${start} 60Q${(start + end) / 2} ${24 - Math.abs(start - end) / 6} ${end} 60`);
    });
  },
});

customElements.define("attention-shares", class extends HTMLElement {
  connectedCallback() {
    if (this.words) return;
    Object.assign(this, JSON.parse(this.dataset.given));
    const picture = this.querySelector("svg");
    picture.before(this.build());
    picture.remove();
    this.show(this.chosen);
  }

  build() {
    const box = document.createElement("fieldset");
    const each = (mark) => this.words.map((word, n) => mark.replaceAll("#", n)).join("");
    box.innerHTML = `<legend>Choose a word, and see which words it attends to.</legend>
      <svg viewBox="0 0 360 60" preserveAspectRatio="none" aria-hidden="true">${each("<path/>")}</svg>
      <div>${each('<label><input type="radio" value="#"><span></span></label>')}</div>
      <table><caption></caption><thead><tr>${each('<th scope="col"></th>')}</tr></thead>
      <tbody><tr>${each("<td><i></i><b></b></td>")}</tr></tbody></table><p role="status"></p>`;
    const all = (selector) => [...box.querySelectorAll(selector)];
    this.parts = { arcs: all("path"), bars: all("i"), numbers: all("b"), radios: all("input") };
    this.caption = box.querySelector("caption");
    this.status = box.querySelector("p");
    for (const kind of ["label span", "th"]) {
      all(kind).forEach((place, n) => (place.textContent = this.words[n]));
    }
    for (const radio of this.parts.radios) radio.name = `asks-${this.words.join("")}`;
    box.addEventListener("change", ({ target }) => this.show(Number(target.value)));
    return box;
  }

  show(chosen) {
    const { arcs, bars, numbers, radios } = this.parts;
    radios[chosen].checked = true;
    selfattn.bows(arcs, this.weights[chosen], chosen, 12);
    this.weights[chosen].forEach((weight, n) => {
      bars[n].style.setProperty("--share", weight);
      numbers[n].textContent = weight.toFixed(2);
    });
    this.caption.textContent = `The shares of “${this.words[chosen]}”`;
    this.status.textContent = this.say(chosen);
  }

  /** Where most of a word's attention goes. */
  say(chosen) {
    const row = this.weights[chosen];
    const most = Math.max(...row);
    const n = row.indexOf(most);
    const name = n === chosen ? "itself" : `“${this.words[n]}”`;
    return `“${this.words[chosen]}” attends most to ${name} (${most.toFixed(2)}).`;
  }
});
