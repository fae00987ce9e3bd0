// What a reader may change: a state, the numbers that follow from it, and how an address says it.
//
// A state is a record of short texts, as an address has them: {seed: "123", word: "2", q11: "0.5"}.
// Entries of matrices are there where somebody has changed them: row 1, column 1 of W_query is q11.
(() => {
  const { selfattn } = globalThis;
  const { at, fill, matrix } = selfattn;
  const MATRICES = { x: "inputs", q: "W_query", k: "W_key", v: "W_value" };
  const CHOICES = {
    divisor: ["sqrt", "1", "d_k"],
    axis: ["row", "column"],
    drawn: ["rand", "linear"],
    word: ["1", "2", "3", "4", "5", "6"],
  };
  const USUAL = { seed: "123", word: "2", divisor: "sqrt", mask: "none", axis: "row", drawn: "rand", task: "1" };
  const VIEW = /^(word|task)$/; // what changes no number
  const LARGEST_SEED = 2 ** 32 - 1;
  const ENTRY = /^(x[1-6][1-3]|[qkv][1-3][12])$/;
  const NUMBER = /^-?\d{1,3}(\.\d{1,4})?$/;
  const PLACES = /^[1-6]{2}(\.[1-6]{2}){0,35}$/;
  const EACH = [1, 2, 3, 4, 5, 6];
  const CAUSAL = EACH.flatMap((i) => EACH.filter((j) => j > i).map((j) => `${i}${j}`)).join(".");

  const isSeed = (text) => /^\d{1,10}$/.test(text) && Number(text) <= LARGEST_SEED;

  // Return what a name must be set to, in words, or "" where its value is right.
  function fault(name, value) {
    if (name === "seed") return isSeed(value) ? "" : `a whole number from 0 to ${LARGEST_SEED}`;
    if (Object.hasOwn(CHOICES, name))
      return CHOICES[name].includes(value) ? "" : `one of ${CHOICES[name].join(", ")}`;
    if (name === "task") return /^([1-9]|1[01])$/.test(value) ? "" : "a number from 1 to 11";
    if (name === "mask")
      return /^(none|causal)$/.test(value) || PLACES.test(value)
        ? ""
        : "none, causal, or places such as 12.13";
    if (ENTRY.test(name))
      return NUMBER.test(value) && Math.abs(value) <= 99 ? "" : "a number from -99 to 99 with four decimals at most";
    return "something that the explorer knows";
  }

  // Read the changes that an address makes: {changes} or {fault}.
  function read(text) {
    const changes = {};
    for (const [name, value] of new URLSearchParams(text)) {
      const wanted = fault(name, value);
      if (wanted) return { fault: `“${`${name}=${value}`.slice(0, 40)}” should be ${wanted}` };
      changes[name] = value;
    }
    return { changes };
  }

  // Read what an address has after its name: the explorer's {id} and what it says, or no id.
  function follow(hash) {
    let plain = hash;
    try {
      plain = decodeURIComponent(hash);
    } catch {} // the fault will be shown
    const [, id, text = ""] = plain.match(/^#(try-\d)(?:\?(.*))?$/s) ?? [];
    return { id, ...read(text) };
  }

  const write = (state, start) =>
    Object.keys(state)
      .filter((name) => state[name] !== start[name])
      .map((name) => `${name}=${state[name]}`)
      .join("&");

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

  function draw(state) {
    const random = selfattn.generator(Number(state.seed));
    const one = () => (state.drawn === "rand" ? random.rand(3, 2) : random.linear(3, 2));
    return { W_query: one(), W_key: one(), W_value: one() };
  }

  // Compute everything that is shown of a state; `embeddings` are those of the book.
  function compute(state, embeddings) {
    const given = { inputs: matrix(6, 3, embeddings.flat()), ...draw(state) };
    for (const name of Object.keys(state).filter((each) => ENTRY.test(each))) {
      const of = given[MATRICES[name[0]]];
      of.data[(name[1] - 1) * of.columns + (name[2] - 1)] = Number(state[name]);
    }
    const places = hidden(state.mask);
    const mask = fill(6, 6, (i, j) => places.has(`${i + 1}${j + 1}`));
    const { divisor, axis } = state;
    return { ...selfattn.attention({ ...given, divisor, axis, mask }), state };
  }

  // Name the entry of a matrix as an address does; "" for what is computed.
  function entry(step, i, j) {
    const letter = Object.keys(MATRICES).find((each) => MATRICES[each] === step);
    return letter ? `${letter}${i + 1}${j + 1}` : "";
  }

  const percent = (now, i, j) => {
    const share = at(now.attn_weights, i, j);
    return Number.isNaN(share) ? "nan" : `${(100 * share).toFixed()}%`;
  };

  Object.assign(selfattn, {
    ...{ USUAL, fault, read, follow, write, changed, hidden, toggle, compute, entry, percent },
  });
})();
