/* Bows as thick as shares, which each explorer draws. */
"use strict";

Object.assign((globalThis.selfattn ??= {}), {
  /** Draw bows from one word to each, 60 apart, or a loop to itself. */
  bows(paths, shares, from, thickest) {
    const start = 60 * from + 30;
    paths.forEach((path, n) => {
      const end = 60 * n + 30;
      path.style.strokeWidth = `${thickest * (shares[n] || 0)}px`;
      path.setAttribute("d", start === end
        ? `M${start - 7} 60C${start - 26} 12 ${start + 26} 12 ${start + 7} 60`
        : `M${start} 60Q${(start + end) / 2} ${24 - Math.abs(start - end) / 6} ${end} 60`);
    });
  },
});
