/* Answers the states that `explorer_proof.py` sends, one to a line: what is printed, what is certain, and
 * each number with its error. Runs in Node; its argument is the script to be tested.
 */
"use strict";

const { matrix, generator, attention, fourDecimals, isCertain } = (() => {
  require(process.argv[2]);
  return globalThis.selfattn;
})();
const { inputs, steps, states } = JSON.parse(require("fs").readFileSync(0, "utf8"));

const compute = ({ seed, draw, edits, mask, ...chosen }) => {
  const drawn = generator(seed);
  const given = { inputs: matrix(6, 3, inputs.flat()) };
  for (const name of ["W_query", "W_key", "W_value"]) given[name] = drawn[draw](3, 2);
  for (const [name, row, column, number] of edits) {
    given[name].data[row * given[name].columns + column] = number;
  }
  return attention({ ...given, ...chosen, mask: mask && matrix(6, 6, mask.flat()) });
};

const lines = states.map((state) => {
  const result = compute(state);
  const [printed, certain, numbers] = [[], [], []];
  for (const step of steps) {
    const { data, columns, errors } = result[step];
    data.forEach((number, n) => {
      printed.push(fourDecimals(number));
      certain.push(isCertain(step, Math.floor(n / columns), n % columns, result) ? 1 : 0);
      numbers.push(number, errors[n]);
    });
  }
  const bytes = Buffer.from(new Float32Array(numbers).buffer).toString("base64");
  return [printed.join(" "), certain.join(""), bytes].join("\t");
});
process.stdout.write(lines.join("\n"));
