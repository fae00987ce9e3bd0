// What a reader may change: a state, and the numbers that follow from it.
//
// A state is a record of short texts: {word: "2", mask: "causal", q11: "0.5"}.
// Entries of matrices are there where somebody has changed them: row 1, column 1 of W_query is q11.
(() => {
  const { selfattn } = globalThis;
  const { at, fill, matrix } = selfattn;
  const MATRICES = { x: "inputs", q: "W_query", k: "W_key", v: "W_value" };
  const USUAL = { word: "2", divisor: "sqrt", mask: "none", axis: "row", task: "1" };
  const VIEW = /^(word|task)$/; // what changes no number
  const ENTRY = /^(x[1-6][1-3]|[qkv][1-3][12])$/;
  const EACH = [1, 2, 3, 4, 5, 6];
  const CAUSAL = EACH.flatMap((i) => EACH.filter((j) => j > i).map((j) => `${i}${j}`)).join(".");

  // Whether a text can be an entry of a matrix.
  const isEntry = (text) => /^-?\d{1,3}(\.\d{1,4})?$/.test(text) && Math.abs(text) <= 99;

  // The names of what is not as at the start, in what makes the numbers.
  const changed = (state, start) =>
    [...new Set([...Object.keys(state), ...Object.keys(start)])].filter(
      (name) => !VIEW.test(name) && state[name] !== start[name],
    );

  // Hidden places as texts such as "12": from word 1, word 2 is hidden.
  const hidden = (mask) =>
    new Set(mask === "none" ? [] : (mask === "causal" ? CAUSAL : mask).split("."));

  function toggle(mask, place) {
    const places = hidden(mask);
    if (!places.delete(place)) places.add(place);
    const text = [...places].sort().join(".");
    return text === CAUSAL ? "causal" : text || "none";
  }

  // Compute everything that is shown of a state; the book has the numbers that were not changed.
  function compute(state, book) {
    const given = {};
    for (const name of Object.values(MATRICES))
      given[name] = matrix(book[name].length, book[name][0].length, book[name].flat());
    for (const name of Object.keys(state).filter((each) => ENTRY.test(each)))
      given[MATRICES[name[0]]].data[place(name, book)] = Number(state[name]);
    const places = hidden(state.mask);
    const mask = fill(6, 6, (i, j) => places.has(`${i + 1}${j + 1}`));
    const { divisor, axis } = state;
    return { ...selfattn.attention({ ...given, divisor, axis, mask }), state };
  }

  // Where an entry is in the numbers of its matrix.
  const place = (name, book) => (name[1] - 1) * book[MATRICES[name[0]]][0].length + (name[2] - 1);

  // Whether a value is the book's own.
  const isOriginal = (name, value, book) =>
    ENTRY.test(name) && book[MATRICES[name[0]]].flat()[place(name, book)] === Number(value);

  // Other numbers for all three matrices.
  const others = () =>
    Object.fromEntries("qkv".split("").flatMap((letter) => [1, 2, 3].flatMap((i) => [1, 2].map((j) =>
      [`${letter}${i}${j}`, Math.random().toFixed(4)]))));

  // Name the entry of a matrix as a state does; "" for what is computed.
  function entry(step, i, j) {
    const letter = Object.keys(MATRICES).find((each) => MATRICES[each] === step);
    return letter ? `${letter}${i + 1}${j + 1}` : "";
  }

  const percent = (now, i, j) => {
    const share = at(now.attn_weights, i, j);
    return Number.isNaN(share) ? "nan" : `${(100 * share).toFixed()}%`;
  };

  Object.assign(selfattn, { USUAL, isEntry, changed, hidden, toggle, compute, isOriginal, others, entry, percent });
})();
