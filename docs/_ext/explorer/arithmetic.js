/* Self-attention in float64, which `tests/test_site_explorer.py` compares with torch. */
"use strict";

(() => {
  const count = (n) => [...Array(n).keys()];
  const matrix = (rows, columns, data) => ({ rows, columns, data: [...data] });
  const fill = (rows, columns, entry) =>
    matrix(rows, columns, count(rows * columns).map((n) => entry(Math.floor(n / columns), n % columns)));
  const at = (of, i, j) => of.data[i * of.columns + j];
  const row = (of, i) => of.data.slice(i * of.columns, (i + 1) * of.columns);

  /* Steps */

  const dot = (one, other) => one.reduce((sum, x, n) => sum + x * other[n], 0);
  const transpose = (of) => fill(of.columns, of.rows, (i, j) => at(of, j, i));
  const product = (left, right) => {
    const columns = transpose(right);
    return fill(left.rows, right.columns, (i, j) => dot(row(left, i), row(columns, j)));
  };
  const softmax = (scores) => {
    const powers = count(scores.rows).map((i) => {
      const top = Math.max(...row(scores, i));
      return row(scores, i).map((x) => Math.exp(x - top));
    });
    return fill(scores.rows, scores.columns, (i, j) => powers[i][j] / powers[i].reduce((a, b) => a + b));
  };

  /** All steps, with what they were made from. */
  const attention = ({ divisor = "sqrt", mask, axis = "row", ...given }) => {
    const { inputs, W_query, W_key, W_value } = given;
    const [queries, keys, values] = [W_query, W_key, W_value].map((each) => product(inputs, each));
    const attn_scores = product(queries, transpose(keys));
    const by = { 1: 1, sqrt: Math.sqrt(keys.columns), d_k: keys.columns }[divisor];
    const scaled = fill(inputs.rows, inputs.rows, (i, j) => at(attn_scores, i, j) / by);
    const hidden = (i, j) => Boolean(mask && at(mask, i, j));
    const masked = fill(inputs.rows, inputs.rows, (i, j) => (hidden(i, j) ? -Infinity : at(scaled, i, j)));
    const attn_weights = axis === "row" ? softmax(masked) : transpose(softmax(transpose(masked)));
    const context_vecs = product(attn_weights, values);
    const steps = { queries, keys, values, attn_scores, scaled, masked, attn_weights, context_vecs };
    return { ...given, ...steps, divisor: by, axis };
  };

  /* What is shown */

  const printed = (number, digits = 4) => {
    if (Number.isNaN(number)) return "nan";
    return Number.isFinite(number) ? number.toFixed(digits) : number < 0 ? "-inf" : "inf";
  };

  const PRODUCTS = {
    queries: ["inputs", "W_query"],
    keys: ["inputs", "W_key"],
    values: ["inputs", "W_value"],
    attn_scores: ["queries", "keys"],
    context_vecs: ["attn_weights", "values"],
  };

  /** How an entry was made: the entries it is made of, `terms`, and a `text`. */
  const trace = (step, i, j, result) => {
    const made = printed(at(result[step], i, j));
    const text = (name, row, column) => printed(at(result[name], row, column));
    if (PRODUCTS[step]) {
      const [left, right] = PRODUCTS[step];
      const pairs = count(result[left].columns).map((k) => [
        [left, i, k],
        right === "keys" ? [right, j, k] : [right, k, j],
      ]);
      const sum = pairs.map(([one, other]) => `${text(...one)}·${text(...other)}`).join(" + ");
      // What is shown of the factors may add up to another last digit.
      const shown = pairs.reduce((all, [one, other]) => all + text(...one) * text(...other), 0);
      return { terms: pairs.flat(), text: `${sum} ${printed(shown) === made ? "=" : "≈"} ${made}` };
    }
    if (step === "scaled") {
      const score = ["attn_scores", i, j];
      return { terms: [score], text: `${text(...score)} / ${printed(result.divisor)} = ${made}` };
    }
    if (step !== "attn_weights") return { terms: [], text: made };
    const line = count(result.masked.rows).map((k) => (result.axis === "row" ? ["masked", i, k] : ["masked", k, j]));
    const powers = line.map((score) => `exp(${text(...score)})`).join(" + ");
    return { terms: line, text: `exp(${text("masked", i, j)}) / (${powers}) = ${made}` };
  };

  globalThis.selfattn = { matrix, fill, at, row, attention, printed, trace };
})();
