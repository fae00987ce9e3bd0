// Small tasks, each answered by a state that the reader reaches, and what it teaches.
//
// `check(now, start)` is true where a state answers the task and shows what `learned` says, false
// where it doesn't, and a text that says so where it would but for one thing.
(() => {
  const { selfattn } = globalThis;
  const { at, hidden, percent, printed, row } = selfattn;
  const JOURNEY = 1;

  const EACH = [0, 1, 2, 3, 4, 5];
  const PART = 5e-5; // less is printed as 0
  const EXTRA =
    "Nearly: something else has been changed as well. Reset, and change only what the task needs.";
  const WHOLE =
    "Nearly: each column adds up to 1, but with these numbers the row of “journey” does so as well. Take other numbers until it doesn’t.";

  const differs = (name, now, start) =>
    EACH.some((i) => [0, 1].some((j) => Math.abs(at(now[name], i, j) - at(start[name], i, j)) > PART));
  const shares = (now) => row(now.attn_weights, JOURNEY);
  const total = (now) => shares(now).reduce((sum, share) => sum + share).toFixed(2);
  const largest = (now) => Math.max(...shares(now));
  const place = (now) => shares(now).indexOf(largest(now));
  const topShare = (now) => percent(now, JOURNEY, place(now));
  const alongRows = (now) => now.state.axis === "row";
  // What is answered as long as no mask and no other axis makes it so: true, EXTRA or false.
  const plain = (now, answered) =>
    answered && ((alongRows(now) && now.state.mask === "none") || EXTRA);

  // Whether only such names have changed: true, EXTRA where others have as well, or false.
  function only(now, start, names, answered) {
    const all = selfattn.changed(now.state, start.state);
    if (!all.some((name) => names.test(name)) || !answered) return false;
    return all.every((name) => names.test(name)) || EXTRA;
  }

  const tasks = [
    {
      name: "values",
      ask: "Change the context vector of “journey”, and none of the attention weights.",
      hint: "Touch a number, and move the slider that appears; the box says what has changed. Which of the matrices is no weight made of?",
      check: (now, start) =>
        only(now, start, /^v/, differs("values", now, start) && differs("context_vecs", now, start)),
      learned: () =>
        "Weights are made of queries and keys alone. A value is what is passed on once the weights are settled, so only the values and the context vectors follow the value matrix, each in one column.",
    },
    {
      name: "sixths",
      ask: "Make “journey” give all six words the same weight.",
      hint: "Softmax gives equal weights to equal scores. A score is a dot product of a query and a key: which query makes all of them 0?",
      check: (now) => plain(now, shares(now).every((share) => Math.abs(share - 1 / 6) < 1e-6)),
      learned: () =>
        "Sixths: equal scores get equal weights. A query of zeros always does this, whatever the keys are, since each score is then a sum of products with 0.",
    },
    {
      name: "divisor",
      ask: "Make the largest weight of “journey” grow, by changing the divisor and nothing else.",
      hint: "Which of the three divisors leaves the scores as they are?",
      check: (now, start) =>
        now.state.divisor === "d_k"
          ? `Nearly: a larger divisor draws the scores together, and the largest weight falls to ${topShare(now)}.`
          : only(now, start, /^divisor$/, largest(now) > largest(start)),
      learned: (now, start) =>
        `It has grown from ${topShare(start)} to ${topShare(now)}. Undivided, the scores are further apart, and softmax turns differences of scores into ratios of weights.`,
    },
    {
      name: "columns",
      ask: "Make each column of attention weights add up to 1, instead of each row.",
      hint: "The weights that softmax makes of the numbers it runs along add up to 1.",
      check: (now) =>
        now.state.axis === "column" &&
        !now.attn_weights.data.some(Number.isNaN) && // a column that is hidden has no sum
        (total(now) !== "1.00" || WHOLE),
      learned: (now) =>
        `This is a mistake that raises no error: dim=0 instead of dim=-1. The row of “journey” now adds up to ${total(now)}, so its numbers are no longer parts of a whole, and its context vector is no average of the values.`,
    },
    {
      name: "longer",
      ask: "Change only the embedding of “journey”, and make its largest weight more than one half.",
      hint: "Make its numbers larger: twice the embedding is twice the query.",
      check: (now, start) => only(now, start, /^x2/, largest(now) > 0.5 + PART),
      learned: (now) =>
        `It is ${printed(largest(now))}. A longer query stretches all scores of “journey”, and here its own key is longer, too. So they move apart, and softmax gives more and more to the largest.`,
    },
    {
      name: "another",
      ask: "Make “journey” give its largest weight to another word than itself.",
      hint: "Make another word’s embedding larger, make a number of <b>W</b><sub>q</sub> negative, or take other numbers.",
      check: (now) => plain(now, largest(now) > shares(now)[JOURNEY] + PART),
      learned: () =>
        "Nothing makes a word prefer itself. The largest weight goes to the key that reaches furthest in the direction of the query, whoever it belongs to.",
    },
    {
      name: "zero",
      ask: "Set all three numbers of “step” to 0. Does the weight that it gets become 0 as well?",
      hint: "Touch its three embedding numbers one by one and type 0. Then look at what “journey” gives it.",
      check: (now, start) =>
        only(now, start, /^x6/, row(now.inputs, 5).every((number) => number === 0)),
      learned: (now) =>
        `No: “journey” still gives it ${percent(now, JOURNEY, 5)}. Its score is 0, and e to the power of 0 is 1. But its value is 0 too, so with that weight it adds nothing.`,
    },
    {
      name: "negative",
      ask: "Make a score of “journey” negative. Does the weight become negative, too?",
      hint: "A dot product is negative where query and key point away from each other. Try negative numbers in the embedding of “journey”.",
      check: (now) => plain(now, Math.min(...row(now.attn_scores, JOURNEY)) < -PART),
      learned: () =>
        "No: softmax raises e to the power of each score, and that is never negative; a lower score only gets a smaller weight.",
    },
    // These belong to Section 3.5.
    {
      name: "alone",
      ask: "Use the mask so that “Your” sees itself alone. How large is its weight?",
      hint: "Try the causal mask. Or touch weights in the row of “Your”, and hide their scores.",
      check: (now) => {
        const places = hidden(now.state.mask);
        const others = ["12", "13", "14", "15", "16"].every((place) => places.has(place));
        return alongRows(now) && others && at(now.attn_weights, 0, 0) === 1;
      },
      learned: () =>
        "It is exactly 1. A hidden score is −∞, and e to the power of −∞ is 0, so softmax divides the one power that is left by itself. Behind a causal mask, this happens to the first word of every text.",
    },
    {
      name: "last",
      ask: "Switch the causal mask on, and choose the word that loses nothing by it.",
      hint: "A word loses those that come after it.",
      check: (now) => alongRows(now) && now.state.mask === "causal" && now.state.word === "6",
      learned: () =>
        "“step” is the last word. Nothing comes after it, so nothing is hidden from it, and its weights stay as they were.",
    },
    {
      name: "nothing",
      ask: "Hide all six words from one word. What are its weights?",
      hint: "Touch the six weights in its row, and hide the score of each.",
      check: (now) =>
        alongRows(now) && EACH.some((i) => row(now.attn_weights, i).every(Number.isNaN)),
      learned: () =>
        "They are nan, “not a number”: every power of e is 0, and softmax divides 0 by 0. So a mask has to leave each word something to see.",
    },
  ];

  Object.assign(globalThis.selfattn, { tasks });
})();
