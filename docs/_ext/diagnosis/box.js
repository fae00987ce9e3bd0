/* The box on the page "My numbers differ": puts what diagnose.js finds into words and links.
 *
 * Nothing that was pasted is ever read as HTML, and nothing is sent anywhere.
 */
"use strict";

(() => {
  const form = document.querySelector(".number-box");
  const here = document.currentScript.src;
  const root = new URL("../", here);
  const [field, answer] = [form.querySelector("textarea"), form.querySelector("[role=status]")];
  let [diagnose, sections] = [null, null];

  /** Load what is known, once it is needed: a script, since a folder's page can fetch nothing. */
  const loaded = () =>
    (diagnose ??= new Promise((resolve, reject) => {
      const src = new URL(`known.js?${Date.now()}`, here).href;
      const script = Object.assign(element("script"), { src, onerror: reject });
      script.addEventListener("load", () => {
        ({ sections } = globalThis.selfattn.known);
        resolve(globalThis.selfattn.diagnosis(globalThis.selfattn.known));
      });
      document.head.append(script);
    }));

  const ERROR =
    "There is an error message in this text, which says itself what is wrong: the box compares only what code prints.";

  /* --- Elements; a text is always text --- */

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };
  const link = (text, href) => Object.assign(element("a", text), { href });
  const code = (text) => element("code", text);
  const paragraph = (...children) => element("p", ...children);
  const list = (items) => element("ul", ...items.map((item) => element("li", ...item)));

  const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

  /** "Step 3, Self-attention step by step", with a link to the output. */
  const placed = ({ href, section, page }) => {
    const where = [section, page].filter((part, i, all) => part && part !== all[i - 1]).join(", ");
    return [link(where, new URL(href, root).href)];
  };

  /** The first paragraph of a section: what went wrong and what to do. */
  const advice = (id) => {
    const text = document.getElementById(id).querySelector("p").cloneNode(true);
    return [...text.childNodes, " ", link("More", `#${id}`), "."];
  };

  const plain = (title) => title.replaceAll("`", "");
  const named = (name) => (/^\w+$/.test(name) ? code(name) : name);
  const listedCodes = (codes) => codes.flatMap((name, i) => [i ? ", " : "", named(name)]);

  const alsoOf = ({ mistakes }) => {
    const each = mistakes.map(({ title, codes }) =>
      [link(plain(title), `#${sections[title]}`), ", in ", ...listedCodes(codes), "."]);
    if (each.length < 2) return each.map((one) => paragraph("A mistake makes the same numbers: ", ...one));
    const summary = `${each.length} mistakes don't show at this step: compare what follows, too`;
    return [element("details", element("summary", summary), list(each))];
  };

  const cure = ({ title, codes }) =>
    paragraph(element("strong", plain(title)), ", in ", ...listedCodes(codes), ". ",
      ...advice(sections[title]));

  /* --- Findings in words --- */

  const lastDigits = ({ nears }) =>
    nears.length
      ? [
          paragraph(
            `In ${counted(nears.length, "place")} the last digit is one off, as it may be on another machine: `,
            link("why", "#last-digit"),
            ".",
          ),
        ]
      : [];

  const otherRows = ({ rows }) =>
    rows
      ? [paragraph(element("strong", `But yours are in rows of ${rows.pasted}, and the book's in rows of ${rows.printed}.`),
          " Are rows and columns ", link("exchanged", "#the-matrices-drawn-with-rows-for-columns"), "?")]
      : [];

  const WORDS = {
    documented: ({ isTwice, ...found }) => [
      paragraph(`These are the book's own numbers${isTwice ? ", twice, as of a batch of two" : ""}.`),
      ...otherRows(found),
      list(found.places.map(placed)),
      ...lastDigits(found),
      ...alsoOf(found),
    ],
    mistake: (found) => [
      ...(found.mistakes.length > 1
        ? [paragraph(`${found.mistakes.length} mistakes make these numbers:`)]
        : []),
      ...found.mistakes.map(cure),
      ...lastDigits(found),
    ],
    right: (found) => [
      paragraph("These are right, although no page prints them: the ", found.step, " of ", named(found.code), "."),
      ...alsoOf(found),
      ...lastDigits(found),
    ],
    coarse: () => [
      paragraph("So few digits fit many outputs and mistakes: paste more decimals, or more numbers."),
    ],
    few: ({ places, more, isNear }) => [
      paragraph(
        places.length
          ? `So few numbers may fit by chance. They are printed here${isNear ? ", with another last digit" : ""}:`
          : "What you pasted is printed nowhere in the book; to name a mistake, the box needs three different numbers other than 0, with two decimals or more.",
      ),
      ...(places.length ? [list(places.map(placed))] : []),
      ...(more > 0 ? [paragraph(`And in ${counted(more, "other place")}.`)] : []),
    ],
    unknown: () => [
      paragraph("Nothing fits: no output of the book, and no mistake that is known here."),
      paragraph("Equal rows or one-hot weights have ", link("causes of their own", "#symptoms"),
        ", and so have ", link("numbers drawn on a GPU", "#numbers-drawn-on-a-gpu"), "."),
      paragraph(
        "Paste the steps before, one after the other, from the matrices on: the first that doesn't fit is the one to look at.",
      ),
    ],
  };

  /** What numbers say that are none, where nothing else is known of them. */
  const notNumbers = ({ kind, numbers }) => {
    const isKnown = ["documented", "mistake", "right"].includes(kind);
    const isOne = (test) => !isKnown && numbers.some(({ value }) => test(value));
    return [
      ...(isOne(Number.isNaN) ? [paragraph(element("strong", "NaN"), ": ", ...advice("nan"))] : []),
      ...(isOne((value) => Math.abs(value) === Infinity)
        ? [paragraph(element("strong", "−∞"), ": ", ...advice("infinity"))]
        : []),
    ];
  };

  const heading = ({ numbers }, i, { length }) => {
    const first = numbers.slice(0, 3).map(({ text }) => text).join(", ");
    const which = length > 1 ? `Block ${i + 1}: ` : "";
    const cut = numbers.length > 3 ? ", …" : "";
    const text = `${which}${counted(numbers.length, "number")}, ${first}${cut}`;
    return Object.assign(element("p", text), { className: "number-box-block" });
  };

  const answered = ({ total, isCut, hasError, findings }) => {
    if (!total) return [paragraph(hasError ? ERROR : "There are no numbers in this text.")];
    const parts = hasError ? [paragraph(ERROR)] : [];
    parts.push(...findings.flatMap((found, i) => [heading(found, i, findings), ...notNumbers(found), ...WORDS[found.kind](found)]));
    if (isCut) parts.push(paragraph("It was a long text: only the beginning was compared."));
    return parts;
  };

  const compare = async () => {
    answer.replaceChildren();
    const text = field.value.slice(0, field.maxLength);
    const found = (await loaded())(text);
    const isCut = found.isCut || text.length === field.maxLength;
    const hasError = /^\w*(Error|Exception)\b/m.test(text);
    answer.replaceChildren(...answered({ ...found, isCut, hasError }));
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    compare();
  });
  form.addEventListener("reset", () => {
    answer.replaceChildren();
    field.focus();
  });
  field.addEventListener("paste", () => setTimeout(compare)); // once the text is there
  form.elements.example.addEventListener("click", () => {
    field.value = form.elements.example.value;
    compare();
  });
})();
