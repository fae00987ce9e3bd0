/* Self-attention as PyTorch computes it in float32, and how far its digits can be trusted.
 *
 * A number has a value, and a range: all that float32 can make of it, adding in any order, with
 * partial results rounded or kept, an `exp` one unit in the last place off, and a reciprocal for a
 * division. It is certain if both ends print alike. `tests/test_site_explorer.py` compares both with torch.
 */
"use strict";

(() => {
  const float = Math.fround;
  const UNIT = 2 ** -24; // the error of one rounding
  const SLACK = 2 ** -48; // more than float64 loses
  const EXP_ERROR = 2 * UNIT;
  const LEAST = 2 ** -126; // what is smaller may lose digits
  const ANYTHING = [-Infinity, Infinity];
  const UNDEFINED = [NaN, NaN]; // of a softmax of nothing

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
        return [fused, [Math.min(fused, unfused), Math.max(fused, unfused)]];
      });
    };
    return { rand, linear };
  };

  /* Ranges: [low, high] */

  const isFinite = ([low, high]) => low > -Infinity && high < Infinity;
  const rounded = (range) => (isFinite(range) ? range.map(float) : ANYTHING);
  /** An exact result, the same rounded, and all in between. */
  const keptOrRounded = (low, high) => {
    const [least, most] = [low - Math.abs(low) * SLACK, high + Math.abs(high) * SLACK];
    return [Math.min(least, float(least)), Math.max(most, float(most))];
  };
  const times = ([a, b], [c, d]) => {
    if (a !== a) return UNDEFINED;
    const ends = [a * c, a * d, b * c, b * d];
    if (ends.some(Number.isNaN)) return ANYTHING;
    return [Math.min(...ends) + 0, Math.max(...ends) + 0]; // sums begin with 0, not -0
  };
  /** A sum in every order: each subset of the terms, from all pairs that make it up. */
  const total = (terms) => {
    if (terms.some(([low, high]) => low !== low && high !== high)) return UNDEFINED;
    const [lows, highs] = [[0], [0]];
    for (let all = 1; all < 1 << terms.length; all++) {
      let [low, high] = all & (all - 1) ? [Infinity, -Infinity] : terms[Math.log2(all)];
      for (let part = (all - 1) & all; 2 * part > all; part = (part - 1) & all) {
        low = Math.min(low, lows[part] + lows[all - part]);
        high = Math.max(high, highs[part] + highs[all - part]);
      }
      [lows[all], highs[all]] = keptOrRounded(low, high);
    }
    const [low, high] = rounded([lows.pop(), highs.pop()]);
    return [low, high + 0]; // what is rounded to -0 may get lost in 0
  };

  /* Steps: matrices that also have a range for each entry */

  const fill = (rows, columns, entry) => {
    const made = count(rows * columns).map((n) => entry(Math.floor(n / columns), n % columns, n));
    return { ...matrix(rows, columns, made.map(([x]) => x)), ranges: made.map(([, range]) => range) };
  };
  /** A matrix as given: exact, unless another CPU may have drawn it otherwise. */
  const given = ({ rows, columns, data, ranges }) =>
    fill(rows, columns, (i, j, n) => {
      const isDrawn = ranges && ranges[n][0] <= data[n] && data[n] <= ranges[n][1];
      return [data[n], isDrawn ? ranges[n] : [data[n], data[n]]];
    });
  const each = (from, change) =>
    fill(from.rows, from.columns, (i, j, n) => change(from.data[n], from.ranges[n], i, j));

  /** A matrix product; `flipped` takes the second matrix transposed. */
  const product = (left, right, flipped) =>
    fill(left.rows, flipped ? right.rows : right.columns, (i, j) => {
      let value = 0;
      const terms = count(left.columns).map((k) => {
        const a = i * left.columns + k;
        const b = flipped ? j * right.columns + k : k * right.columns + j;
        value = float(left.data[a] * right.data[b] + value); // a fused multiply-add
        return times(left.ranges[a], right.ranges[b]);
      });
      return [value, total(terms)];
    });

  /** The shares of one row or column, as softmax makes them. */
  const shares = (scores, ranges, axis) => {
    const top = Math.max(...scores);
    const exps = scores.map((x) => float(Math.exp(float(x - top))));
    const sum = exps.reduce((a, b) => float(a + b), 0);
    const bounds = boundShares(ranges);
    return exps.map((x, n) => [axis === "row" ? x * float(1 / sum) : x / sum, bounds[n]]);
  };
  /** A share grows with its own score and falls with all others. */
  const boundShares = (ranges) => {
    const top = Math.max(...ranges.map(([, high]) => high));
    if (top === -Infinity) return ranges.map(() => UNDEFINED);
    if (!ranges.every((range) => isFinite(range) || range[1] === -Infinity)) {
      return ranges.map(() => ANYTHING);
    }
    const exps = ranges.map(([low, high]) => {
      if (high === -Infinity) return [0, 0]; // hidden
      const error = EXP_ERROR + 1.01 * UNIT * (top - low) + SLACK;
      const least = Math.exp(low - top) * (1 - error) - LEAST;
      return [Math.max(0, least), Math.exp(high - top) * (1 + error) + LEAST];
    });
    const lost = (ranges.length + 2) * UNIT; // in the sum, the reciprocal and the product
    const sums = [0, 1].map((end) => exps.reduce((sum, range) => sum + range[end], 0));
    return exps.map(([low, high]) => {
      if (!high) return [0, 0];
      const least = low / (sums[1] - high + low);
      const most = high / (Math.max(0, sums[0] - low) + high);
      return rounded([least * (1 - lost), most * (1 + lost)]);
    });
  };
  const softmax = (scores, axis) => {
    const { rows, columns, data, ranges } = scores;
    const lines = count(axis === "row" ? rows : columns).map((n) => {
      const line = count(axis === "row" ? columns : rows).map((k) =>
        axis === "row" ? n * columns + k : k * columns + n,
      );
      return shares(line.map((at) => data[at]), line.map((at) => ranges[at]), axis);
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
    const inverse = keptOrRounded(1 / by, 1 / by);
    const scaled = each(attn_scores, (x, range) =>
      by === 1 ? [x, range] : [x / by, total([times(range, inverse)])],
    );
    const hidden = (i, j) => (causal && j > i) || (mask && mask.data[i * mask.columns + j]);
    const masked = each(scaled, (x, range, i, j) =>
      hidden(i, j) ? [-Infinity, [-Infinity, -Infinity]] : [x, range],
    );
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

  /** Whether its four decimals are the same in all float32 arithmetic. */
  const isCertain = (step, i, j, result) => {
    const [low, high] = result[step].ranges[place(step, i, j, result)];
    return fourDecimals(low) === fourDecimals(high);
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
