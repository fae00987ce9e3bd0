/* Self-attention as PyTorch computes it in float32, with bounds on what it may print.
 *
 * Each number has a value, rounded after every operation in the order that most CPUs use, and a
 * range: all that a float32 machine can make of it if it may add in any order and keep any partial
 * result unrounded (a fused multiply-add does), if its `exp` is off by at most one unit in the last
 * place, and if it divides or multiplies by a reciprocal. A printed number is certain where both
 * ends of the range print alike. `proof.py` compares values and ranges with torch.
 */
"use strict";

(() => {
  const float = Math.fround;
  const UNIT = 2 ** -24; // the largest relative error of one rounding to float32
  const SLACK = 2 ** -48; // more than float64 loses on the way
  const EXP_ERROR = 2 * UNIT; // one unit in the last place
  const LEAST = 2 ** -126; // below it, float32 may lose digits or give 0
  const STEPS = ["queries", "keys", "values", "attn_scores", "scaled", "attn_weights"];

  const matrix = (rows, columns, data = rows * columns) => ({
    rows,
    columns,
    data: new Float32Array(data),
  });
  const range = (n) => Array.from({ length: n }, (_, i) => i);

  /* --- Random numbers: MT19937, as torch.manual_seed and the CPU's generator use it --- */

  const twister = (seed) => {
    const state = new Uint32Array(624);
    state[0] = Number(BigInt.asUintN(32, BigInt(seed))); // torch keeps the lower 32 bits, too
    for (let i = 1; i < 624; i++) {
      state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    }
    let next = 624;
    const renew = () => {
      for (let i = 0; i < 624; i++) {
        const bits = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
        state[i] = state[(i + 397) % 624] ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0);
      }
      next = 0;
    };
    return () => {
      if (next === 624) renew();
      let bits = state[next++];
      bits ^= bits >>> 11;
      bits ^= (bits << 7) & 0x9d2c5680;
      bits ^= (bits << 15) & 0xefc60000;
      return (bits ^ (bits >>> 18)) >>> 0;
    };
  };

  /** Draw as `torch.manual_seed(seed)` lets a CPU draw: any integer of 64 bits, also a BigInt. */
  const generator = (seed) => {
    const bits = twister(seed);
    const uniform = () => (bits() & 0xffffff) * UNIT; // 24 random bits
    return {
      /** torch.rand(rows, columns) */
      rand: (rows, columns) => matrix(rows, columns, range(rows * columns).map(uniform)),
      /** torch.nn.Linear(d_in, d_out, bias=False).weight, transposed: x @ W is what it gives. */
      linear: (d_in, d_out) => {
        const bound = Math.sqrt(3) * (Math.sqrt(2 / 6) / Math.sqrt(d_in));
        const [low, width] = [float(-bound), float(float(bound) - float(-bound))];
        const drawn = range(d_out).map(() => range(d_in).map(() => float(uniform() * width + low)));
        return matrix(d_in, d_out, range(d_in).flatMap((i) => drawn.map((row) => row[i])));
      },
    };
  };

  /* --- Ranges: [low, high], all that a number may be --- */

  const ANYTHING = [-Infinity, Infinity];
  const UNDEFINED = [NaN, NaN]; // for certain: softmax of nothing
  const isUndefined = ([low]) => low !== low;
  const outward = (low, high) => [low - Math.abs(low) * SLACK, high + Math.abs(high) * SLACK];
  const rounded = ([low, high]) =>
    low > -Infinity && high < Infinity ? [float(low), float(high)] : ANYTHING;
  /** What an operation gives: its exact result, its rounded result, and all in between. */
  const either = (low, high) => {
    if (!(low > -Infinity && high < Infinity)) return ANYTHING;
    const [least, most] = outward(low, high);
    return [Math.min(least, float(least)), Math.max(most, float(most))];
  };
  const times = ([a, b], [c, d]) => {
    const ends = [a * c, a * d, b * c, b * d];
    return either(Math.min(...ends), Math.max(...ends));
  };
  /** All results of adding up the terms, in every order: each subset from all its halves. */
  const total = (terms) => {
    if (terms.some(isUndefined)) return UNDEFINED;
    const sums = terms.reduce((known, term, n) => ((known[1 << n] = term), known), []);
    for (let all = 3; all < 1 << terms.length; all++) {
      if (sums[all]) continue;
      let [low, high] = [Infinity, -Infinity];
      for (let part = (all - 1) & all; 2 * part > all; part = (part - 1) & all) {
        const [a, b] = [sums[part], sums[all ^ part]];
        low = Math.min(low, a[0] + b[0]);
        high = Math.max(high, a[1] + b[1]);
      }
      sums[all] = either(low, high);
    }
    const [low, high] = rounded(sums[sums.length - 1]);
    return [low, high + 0]; // a sum that starts at 0 can't be -0
  };

  /* --- The steps: values in float32, and ranges beside them --- */

  const exact = (given) => ({ ...given, ranges: Array.from(given.data, (x) => [x, x]) });
  /** A matrix whose entries' values and ranges two functions give. */
  const build = (rows, columns, value, bounds) => {
    const places = range(rows).flatMap((i) => range(columns).map((j) => [i, j]));
    return {
      ...matrix(rows, columns, places.map(([i, j]) => value(i, j))),
      ranges: places.map(([i, j]) => bounds(i, j)),
    };
  };
  const transposed = (m) => {
    const at = (i, j) => j * m.columns + i;
    return build(m.columns, m.rows, (i, j) => m.data[at(i, j)], (i, j) => m.ranges[at(i, j)]);
  };
  const row = (m, i) => range(m.columns).map((k) => i * m.columns + k);
  const column = (m, j) => range(m.rows).map((k) => k * m.columns + j);

  const product = (left, right) =>
    build(
      left.rows,
      right.columns,
      (i, j) => {
        const [a, b] = [row(left, i), column(right, j)];
        return a.reduce((sum, at, k) => float(left.data[at] * right.data[b[k]] + sum), 0); // fused
      },
      (i, j) => {
        const b = column(right, j);
        return total(row(left, i).map((at, k) => {
          const [x, y] = [left.ranges[at], right.ranges[b[k]]];
          return isUndefined(x) ? x : times(x, y);
        }));
      },
    );

  const divided = (scores, divisor) => {
    if (divisor === 1) return scores;
    const [by, half] = [float(divisor), times([1, 1], either(1 / divisor, 1 / divisor))];
    const quotients = ([low, high]) => {
      const [a, b] = times([low, high], half);
      return rounded([Math.min(a, low / by), Math.max(b, high / by)]);
    };
    const at = (i, j) => i * scores.columns + j;
    return build(
      scores.rows,
      scores.columns,
      (i, j) => scores.data[at(i, j)] / by,
      (i, j) => quotients(scores.ranges[at(i, j)]),
    );
  };

  const hidden = (scores, hides) => {
    const at = (i, j) => i * scores.columns + j;
    return build(
      scores.rows,
      scores.columns,
      (i, j) => (hides(i, j) ? -Infinity : scores.data[at(i, j)]),
      (i, j) => (hides(i, j) ? [-Infinity, -Infinity] : scores.ranges[at(i, j)]),
    );
  };

  /** The shares of one row (or column), as torch's softmax makes them. */
  const shares = (scores, isRow) => {
    const top = Math.max(...scores);
    const exps = scores.map((x) => float(Math.exp(float(x - top))));
    const sum = exps.reduce((a, b) => float(a + b), 0);
    const inverse = float(1 / sum);
    return exps.map((e) => (isRow ? float(e * inverse) : float(e / sum)));
  };

  /** The ranges of the same shares: a share grows with its own score and falls with the others. */
  const shareRanges = (ranges) => {
    const top = Math.max(...ranges.map(([, high]) => high));
    if (top === -Infinity) return ranges.map(() => UNDEFINED);
    if (ranges.some(([low, high]) => low === -Infinity && high > low)) {
      return ranges.map(() => ANYTHING);
    }
    const powers = ranges.map(([low, high]) => {
      if (high === -Infinity) return [0, 0];
      const error = EXP_ERROR + 1.01 * UNIT * (top - low) + SLACK;
      return [
        Math.max(0, Math.exp(low - top) * (1 - error) - LEAST),
        Math.exp(high - top) * (1 + error) + LEAST,
      ];
    });
    const lost = (ranges.length + 2) * UNIT; // by the sum, the reciprocal and the product
    const least = powers.reduce((sum, [low]) => sum + low, 0);
    const most = powers.reduce((sum, [, high]) => sum + high, 0);
    return powers.map(([low, high]) =>
      high === 0
        ? [0, 0]
        : rounded([
            Math.max(0, (low / (low + most - high)) * (1 - lost)),
            (high / (high + Math.max(0, least - low))) * (1 + lost),
          ]),
    );
  };

  const softmax = (scores, axis) => {
    if (axis === "column") return transposed(softmaxOfRows(transposed(scores), false));
    return softmaxOfRows(scores, true);
  };
  const softmaxOfRows = (scores, isRow) => {
    const lines = range(scores.rows).map((i) => {
      const places = row(scores, i);
      return {
        values: shares(places.map((at) => scores.data[at]), isRow),
        ranges: shareRanges(places.map((at) => scores.ranges[at])),
      };
    });
    return build(
      scores.rows,
      scores.columns,
      (i, j) => lines[i].values[j],
      (i, j) => lines[i].ranges[j],
    );
  };

  /** All steps of self-attention; the result also keeps what they were made from. */
  const attention = (given) => {
    const { inputs, W_query, W_key, W_value, divisor = "sqrt", causal, mask, axis = "row" } = given;
    const start = { inputs, W_query, W_key, W_value };
    for (const name of Object.keys(start)) start[name] = exact(start[name]);
    const queries = product(start.inputs, start.W_query);
    const keys = product(start.inputs, start.W_key);
    const values = product(start.inputs, start.W_value);
    const attn_scores = product(queries, transposed(keys));
    const d_k = keys.columns;
    const by = { 1: 1, sqrt: Math.sqrt(d_k), d_k }[divisor];
    const scaled = divided(attn_scores, by);
    const hides = (i, j) => (causal && j > i) || Boolean(mask && mask.data[i * mask.columns + j]);
    const masked = hidden(scaled, hides);
    const attn_weights = softmax(masked, axis);
    const context_vecs = product(attn_weights, values);
    const steps = { queries, keys, values, attn_scores, scaled, masked, attn_weights, context_vecs };
    return { ...start, ...steps, divisor: by, axis };
  };

  /* --- What is shown --- */

  /** A float32 number as torch prints it at four decimals; halves go to the even digit. */
  const fourDecimals = (number) => {
    if (number !== number) return "nan";
    const sign = number < 0 || Object.is(number, -0) ? "-" : "";
    if (Math.abs(number) === Infinity) return `${sign}inf`;
    const scaled = Math.abs(number) * 10000; // exact: 24 and 14 bits
    let digits = Math.round(scaled);
    if (scaled % 1 === 0.5 && digits % 2) digits -= 1;
    const text = BigInt(digits).toString().padStart(5, "0");
    return `${sign}${text.slice(0, -4)}.${text.slice(-4)}`;
  };

  /** Whether every machine within the rules above prints the same four decimals. */
  const isCertain = (step, i, j, result) => {
    const [low, high] = result[step].ranges[i * result[step].columns + j];
    return fourDecimals(low) === fourDecimals(high);
  };

  const entry = (step, i, j, result) => {
    const value = result[step].data[i * result[step].columns + j];
    return { step, i, j, value, text: fourDecimals(value) };
  };
  const PRODUCTS = {
    queries: ["inputs", "W_query"],
    keys: ["inputs", "W_key"],
    values: ["inputs", "W_value"],
    attn_scores: ["queries", "keys"],
    context_vecs: ["attn_weights", "values"],
  };

  /** How an entry was made: the entries that it comes from, in groups, and a line of text. */
  const trace = (step, i, j, result) => {
    const made = entry(step, i, j, result);
    const at = (name, a, b) => entry(name, a, b, result);
    if (step in PRODUCTS) {
      const [left, right] = PRODUCTS[step];
      const flipped = step === "attn_scores";
      const terms = range(result[left].columns).map((k) => [
        at(left, i, k),
        flipped ? at(right, j, k) : at(right, k, j),
      ]);
      const sum = terms.map(([a, b]) => `${a.text}·${b.text}`).join(" + ");
      return { made, terms, text: `${sum} = ${made.text}` };
    }
    if (step === "scaled") {
      const score = at("attn_scores", i, j);
      const by = fourDecimals(float(result.divisor));
      return { made, terms: [[score]], text: `${score.text} / ${by} = ${made.text}` };
    }
    if (step === "masked") {
      return { made, terms: [[at("scaled", i, j)]], text: made.text };
    }
    if (step === "attn_weights") {
      const line = result.axis === "column"
        ? range(result.masked.rows).map((k) => at("masked", k, j))
        : range(result.masked.columns).map((k) => at("masked", i, k));
      const own = at("masked", i, j);
      const sum = line.map((score) => `exp(${score.text})`).join(" + ");
      const text = `exp(${own.text}) / (${sum}) = ${made.text}`;
      return { made, terms: line.map((score) => [score]), text };
    }
    return { made, terms: [], text: made.text };
  };

  globalThis.selfattn = { matrix, generator, attention, fourDecimals, isCertain, trace };
})();
