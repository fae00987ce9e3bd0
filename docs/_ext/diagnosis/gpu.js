/* What a GPU with CUDA draws: the page has the same in Python, and says where it is from. */
"use strict";

(() => {
  /** A product of two numbers of 32 bits: its upper and its lower half. */
  const product = (a, b) => {
    const low = Math.imul(a, b) >>> 0;
    return [Math.round((a * b - low) / 2 ** 32), low]; // what float64 loses is less than a half
  };

  /** Philox 4x32: four numbers of 32 bits, from the place of a number and the seed. */
  const philox = (place, seed) => {
    let [a, b, c, d] = place;
    let [k, m] = [seed, 0];
    for (let round = 0; round < 10; round++) {
      const [left, right] = [product(a, 0xd2511f53), product(c, 0xcd9e8d57)];
      [a, b] = [(right[0] ^ b ^ k) >>> 0, right[1]];
      [c, d] = [(left[0] ^ d ^ m) >>> 0, left[1]];
      [k, m] = [(k + 0x9e3779b9) >>> 0, (m + 0xbb67ae85) >>> 0];
    }
    return [a, b, c, d];
  };

  /** What `torch.rand` gives for the entry of a small tensor, after some draws. */
  const gpuRand = (seed, draw, entry) => (philox([draw, 0, entry, 0], seed)[0] + 0.5) / 2 ** 32;

  globalThis.selfattn = { ...globalThis.selfattn, gpuRand };
})();
