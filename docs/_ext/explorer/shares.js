/* <attention-shares>: choose a word, and see its six shares as arcs, bars and numbers.
 *
 * The weights are the build's; the figure within is for readers without scripts.
 */
"use strict";

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
    this.weights[chosen].forEach((weight, n) => {
      arcs[n].setAttribute("d", arc(60 * chosen + 30, 60 * n + 30));
      arcs[n].style.strokeWidth = `${12 * weight}px`;
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

/** A bow from one word to another, or a loop. */
function arc(from, to) {
  if (from === to) return `M${from - 7} 60C${from - 26} 12 ${from + 26} 12 ${from + 7} 60`;
  return `M${from} 60Q${(from + to) / 2} ${24 - Math.abs(from - to) / 5} ${to} 60`;
}
