/* Self-attention as PyTorch computes it in float32, and how far its digits can be trusted.
 *
 * A number has a value, and an error: about as much as rounding may have changed it on the way. It is
 * certain if it prints alike with the error added and taken away. `tests/test_site_explorer.py`
 * compares both with torch.
 */
"use strict";

(() => {
  const float = Math.fround;
  const UNIT = 2 ** -24; // the error of one rounding

  const count = (n) => [...Array(n).keys()];
  const matrix = (rows, columns, numbers) => ({ rows, columns, data: new Float32Array(numbers) });

  /* Random numbers: MT19937 */

  const twister = (seed) => {
    const state = new Uint32Array(624);
    state[0] = Number(BigInt.asUintN(32, BigInt(seed))); // torch, too, drops the upper bits
    for (let i = 1; i < 624; i++) {
      state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    }
    let next = 624;
    const renew = () => {
      for (let i = 0; i < 624; i++) {
        const bits = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
        state[i] = state[(i + 397) % 624] ^ (bits >>> 1) ^ (bits & 1 && 0x9908b0df);
      }
      next = 0;
    };
    return () => {
      if (next === 624) renew();
      let bits = state[next++];
      bits ^= bits >>> 11;
      bits ^= (bits << 7) & 0x9d2c5680;
      bits ^= (bits << 15) & 0xefc60000;
      return bits ^ (bits >>> 18);
    };
  };

  /** What a CPU draws after `torch.manual_seed(seed)`; a BigInt can have all 64 bits. */
  const generator = (seed) => {
    const bits = twister(seed);
    const uniform = () => (bits() & 0xffffff) * UNIT;
    const rand = (rows, columns) => matrix(rows, columns, count(rows * columns).map(uniform));
    /** The weight of `torch.nn.Linear(d_in, d_out, bias=False)`, transposed. */
    const linear = (d_in, d_out) => {
      const bound = float(Math.sqrt(3) * (Math.sqrt(2 / (1 + Math.sqrt(5) ** 2)) / Math.sqrt(d_in)));
      const drawn = rand(d_out, d_in).data;
      return fill(d_in, d_out, (i, j) => {
        const exact = drawn[j * d_in + i] * (2 * bound);
        const [fused, unfused] = [float(exact - bound), float(float(exact) - bound)];
        return [fused, Math.abs(fused - unfused)];
      });
    };
    return { rand, linear };
  };

  /* Steps: matrices that also have an error for each entry */

  const fill = (rows, columns, entry) => {
    const made = count(rows * columns).map((n) => entry(Math.floor(n / columns), n % columns, n));
    return { ...matrix(rows, columns, made.map(([x]) => x)), errors: made.map(([, error]) => error) };
  };
  /** A matrix as given: exact, unless another CPU may have drawn it otherwise. */
  const given = ({ rows, columns, data, errors }) =>
    fill(rows, columns, (i, j, n) => [data[n], errors?.[n] ?? 0]);
  const each = (from, change) =>
    fill(from.rows, from.columns, (i, j, n) => change(from.data[n], from.errors[n], i, j));
  /** What the rounding of a result may change. */
  const rounding = (exact) => (float(exact) === exact ? 0 : UNIT * Math.abs(exact));

  /** A matrix product; `flipped` takes the second matrix transposed. */
  const product = (left, right, flipped) =>
    fill(left.rows, flipped ? right.rows : right.columns, (i, j) => {
      let [value, error] = [0, 0];
      for (const k of count(left.columns)) {
        const a = i * left.columns + k;
        const b = flipped ? j * right.columns + k : k * right.columns + j;
        const [x, y] = [left.data[a], right.data[b]];
        error += Math.abs(x) * right.errors[b] + Math.abs(y) * left.errors[a];
        error += rounding(x * y + value);
        value = float(x * y + value); // a fused multiply-add
      }
      return [value, error];
    });

  /** The shares of one row or column, as softmax makes them. */
  const shares = (scores, errors, axis) => {
    const top = Math.max(...scores);
    const exps = scores.map((x) => float(Math.exp(float(x - top))));
    const sum = exps.reduce((a, b) => float(a + b), 0);
    const error = 2 * Math.max(...errors); // of a difference of two scores
    return exps.map((x) => {
      const share = axis === "row" ? x * float(1 / sum) : x / sum;
      return [share, share * ((1 - share) * error + 4 * UNIT)];
    });
  };
  const softmax = (scores, axis) => {
    const { rows, columns, data, errors } = scores;
    const lines = count(axis === "row" ? rows : columns).map((n) => {
      const line = count(axis === "row" ? columns : rows).map((k) =>
        axis === "row" ? n * columns + k : k * columns + n,
      );
      return shares(line.map((at) => data[at]), line.map((at) => errors[at]), axis);
    });
    return fill(rows, columns, (i, j) => (axis === "row" ? lines[i][j] : lines[j][i]));
  };

  /** All steps, with what they were made from; for some ten tokens at most. */
  const attention = ({ divisor = "sqrt", causal = false, mask, axis = "row", ...matrices }) => {
    const from = {};
    for (const name of ["inputs", "W_query", "W_key", "W_value"]) from[name] = given(matrices[name]);
    const queries = product(from.inputs, from.W_query);
    const keys = product(from.inputs, from.W_key);
    const values = product(from.inputs, from.W_value);
    const attn_scores = product(queries, keys, true);
    const by = float({ 1: 1, sqrt: Math.sqrt(keys.columns), d_k: keys.columns }[divisor]);
    const scaled = each(attn_scores, (x, error) => [x / by, error / by + rounding(x / by)]);
    const hidden = (i, j) => (causal && j > i) || (mask && mask.data[i * mask.columns + j]);
    const masked = each(scaled, (x, error, i, j) => (hidden(i, j) ? [-Infinity, 0] : [x, error]));
    const attn_weights = softmax(masked, axis);
    const context_vecs = product(attn_weights, values);
    const steps = { queries, keys, values, attn_scores, scaled, masked, attn_weights, context_vecs };
    return { ...from, ...steps, divisor: by, axis };
  };

  /* What is shown */

  /** As torch prints four decimals: halves go to the even digit. */
  const fourDecimals = (number) => {
    if (number !== number) return "nan";
    const sign = number < 0 || Object.is(number, -0) ? "-" : "";
    const size = Math.abs(number) * 10000; // exact in float64
    if (size === Infinity) return `${sign}inf`;
    const digits = BigInt(Math.round(size) - (size % 2 === 0.5 ? 1 : 0));
    const text = String(digits).padStart(5, "0");
    return `${sign}${text.slice(0, -4)}.${text.slice(-4)}`;
  };

  const place = (step, i, j, result) => i * result[step].columns + j;

  /** Whether another order of adding would print the same four decimals. */
  const isCertain = (step, i, j, result) => {
    const at = place(step, i, j, result);
    const [number, error] = [result[step].data[at], result[step].errors[at]];
    return !error || fourDecimals(number - error) === fourDecimals(number + error);
  };

  /** Its four decimals, with ≈ where they are not certain. */
  const printed = (step, i, j, result) =>
    (isCertain(step, i, j, result) ? "" : "≈") +
    fourDecimals(result[step].data[place(step, i, j, result)]);

  const PRODUCTS = {
    queries: ["inputs", "W_query"],
    keys: ["inputs", "W_key"],
    values: ["inputs", "W_value"],
    attn_scores: ["queries", "keys"],
    context_vecs: ["attn_weights", "values"],
  };

  /** How an entry was made: `terms`, each a list of entries to be multiplied, and a `text`. */
  const trace = (step, i, j, result) => {
    const at = (name, row, column) => {
      return { step: name, i: row, j: column, text: printed(name, row, column, result) };
    };
    const shownBy = ({ text }) => Number(text.replace("inf", "Infinity"));
    // `shown` is what the numbers as they are shown would make: ≈ where their lost digits are seen.
    const say = (terms, how, shown) => {
      const made = printed(step, i, j, result);
      if (!how) return { terms, text: made };
      const sign = made[0] === "≈" || fourDecimals(shown) === made ? "=" : "≈";
      return { terms, text: `${how} ${sign} ${made}` };
    };
    const { masked, axis, divisor } = result;
    if (PRODUCTS[step]) {
      const [left, right] = PRODUCTS[step];
      const other = (k) => (right === "keys" ? at(right, j, k) : at(right, k, j));
      const terms = count(result[left].columns).map((k) => [at(left, i, k), other(k)]);
      const how = terms.map(([a, b]) => `${a.text}·${b.text}`).join(" + ");
      return say(terms, how, terms.reduce((sum, [a, b]) => sum + shownBy(a) * shownBy(b), 0));
    }
    if (step === "scaled") {
      const score = at("attn_scores", i, j);
      return say([[score]], `${score.text} / ${fourDecimals(divisor)}`, shownBy(score) / divisor);
    }
    if (step !== "attn_weights") return say([]);
    const line = count(axis === "row" ? masked.columns : masked.rows).map((k) => [
      axis === "row" ? at("masked", i, k) : at("masked", k, j),
    ]);
    const exps = line.map(([score]) => `exp(${score.text})`);
    const own = at("masked", i, j);
    const all = line.reduce((sum, [score]) => sum + Math.exp(shownBy(score)), 0);
    return say(line, `exp(${own.text}) / (${exps.join(" + ")})`, Math.exp(shownBy(own)) / all);
  };

  globalThis.selfattn = { matrix, generator, attention, fourDecimals, isCertain, printed, trace };
})();
