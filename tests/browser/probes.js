// Looks at the page in the browser: each probe returns a list of faults, in words.
globalThis.probes = (() => {
  const root = document.documentElement;

  // Names and places

  function place(element) {
    if (!element || element === root) return "html";
    const id = element.id ? `#${element.id}` : "";
    const classes = [...element.classList].slice(0, 3).map((name) => `.${name}`).join("");
    const home = element.closest("[id]");
    const within = home && home !== element ? `#${home.id} ` : "";
    return `${within}${element.localName}${id}${classes}`;
  }

  function quote(text) {
    const words = text.replace(/\s+/g, " ").trim();
    return `“${words.length > 40 ? `${words.slice(0, 40)}…` : words}”`;
  }

  function seen(element) {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1;
  }

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const shown = (selector) => all(selector).filter(seen);

  function* texts(within = document.body) {
    const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() && !element.closest("script, style, noscript, template"))
        yield [walker.currentNode, element];
    }
  }

  // Width

  function boxed(element) {
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
      if (up.getBoundingClientRect().width <= 1) return true; // for screen readers alone
    }
    return false;
  }

  function sideways() {
    const faults = [];
    const width = innerWidth;
    if (root.scrollWidth > width || document.body.scrollWidth > width)
      faults.push(`sideways: the page is ${root.scrollWidth} px wide in a window of ${width} px`);
    for (const element of all("body *")) {
      const box = element.getBoundingClientRect();
      if (box.right <= width + 1 || !seen(element) || boxed(element)) continue;
      if (element.ownerSVGElement || box.left >= width) continue; // its picture is judged; parked
      faults.push(`sideways: ${place(element)} reaches to ${Math.round(box.right)} of ${width} px`);
      if (faults.length > 4) break;
    }
    for (const output of matchMedia("print").matches ? [] : shown(".cell_output pre"))
      if (getComputedStyle(output).whiteSpace !== "pre")
        faults.push(`sideways: ${place(output)} wraps the rows of a tensor`);
    return faults;
  }

  // Colour

  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colours = new Map();

  function rgba(colour) {
    if (!colours.has(colour)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = colour;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      colours.set(colour, [r, g, b, a / 255]);
    }
    return colours.get(colour);
  }

  const over = ([r, g, b, a], [R, G, B]) =>
    [a * r + (1 - a) * R, a * g + (1 - a) * G, a * b + (1 - a) * B, 1];

  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b]
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }

  function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  function faded([r, g, b, a], element) {
    for (let up = element; up; up = up.parentElement) a *= Number(getComputedStyle(up).opacity);
    return [r, g, b, a];
  }

  // A colour written in the root's own style where there is none: the canvas follows color-scheme.
  function canvas() {
    return rgba(getComputedStyle(root).colorScheme.includes("dark") ? "#121212" : "#fff");
  }

  function behind(element) {
    const layers = [];
    for (let up = element; up; up = up.parentElement) {
      const colour = faded(rgba(getComputedStyle(up).backgroundColor), up);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] >= 0.999) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), canvas());
  }

  // In a picture, what was drawn before a text and lies under its middle is its background.
  function drawn(text) {
    const picture = text.closest("svg");
    const box = text.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    let colour = behind(picture);
    for (const shape of all("rect, circle, ellipse, polygon, path", picture)) {
      if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
      const style = getComputedStyle(shape);
      const area = shape.getBoundingClientRect();
      const under = x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
      if (style.fill === "none" || style.display === "none" || !under) continue;
      const point = picture.createSVGPoint();
      Object.assign(point, { x, y });
      const own = point.matrixTransform(shape.getScreenCTM().inverse());
      if (!shape.isPointInFill(own)) continue;
      const [r, g, b, a] = rgba(style.fill);
      colour = over(faded([r, g, b, a * Number(style.fillOpacity)], shape), colour);
    }
    return colour;
  }

  const PRIVATE = /^[\s\u{e000}-\u{f8ff}\u{f0000}-\u{10ffff}]*$/u; // icons: axe and labels judge

  function contrast() {
    const faults = new Map();
    for (const [node, element] of texts()) {
      if (PRIVATE.test(node.data) || !seen(element)) continue;
      if (element.closest(":disabled, [aria-disabled=true], title, desc")) continue;
      const style = getComputedStyle(element);
      const picture = element.closest("svg");
      const ink = faded(rgba(picture ? style.fill : style.color), element);
      const ground = picture ? drawn(element) : behind(element);
      const scale = picture ? element.getScreenCTM?.().a ?? 1 : 1;
      const size = parseFloat(style.fontSize) * scale;
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const found = ratio(over(ink, ground), ground);
      if (found >= (large ? 3 : 4.5) - 0.005) continue;
      const colours = [over(ink, ground), ground].map(([r, g, b]) =>
        `#${[r, g, b].map((x) => Math.round(x).toString(16).padStart(2, "0")).join("")}`);
      const kind = `${element.localName} ${element.className} ${colours}`;
      if (!faults.has(kind))
        faults.set(kind, `contrast: ${found.toFixed(2)} (${colours.join(" on ")}) of ` +
          `${quote(node.data)} in ${place(element)}`);
    }
    return [...faults.values()];
  }

  // Mathematics

  function named(element) {
    const ids = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const words = ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    return (words || element.getAttribute("aria-label") || element.getAttribute("alt") || "").trim();
  }

  const TEX = /\\[([]|\$\$|\\(?:frac|sqrt|mathbf|mathrm|top|text|begin|cdot|operatorname|tfrac)\b/;

  function mathematics() {
    const faults = [];
    for (const [node, element] of texts(document.querySelector("main") ?? document.body))
      if (TEX.test(node.data) && !element.closest("code, pre, samp, kbd, annotation"))
        faults.push(`mathematics: raw TeX in ${place(element)}: ${quote(node.data)}`);
    for (const formula of all(".math:not(:has(math)):not(math)"))
      faults.push(`mathematics: ${place(formula)} holds no MathML: ${quote(formula.textContent)}`);
    for (const formula of all("math")) {
      if (formula.querySelector("merror")) faults.push(`mathematics: an error in ${place(formula)}`);
      const box = formula.getBoundingClientRect();
      if (formula.checkVisibility() && !(box.width && box.height && formula.textContent.trim()))
        faults.push(`mathematics: ${place(formula.parentElement)} shows an empty formula`);
    }
    return faults;
  }

  // Focus

  const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";
  const ring = (element) => {
    const style = getComputedStyle(element);
    const outline = style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1
      ? "" : `${style.outlineWidth} ${style.outlineColor}`;
    return [outline, style.boxShadow === "none" ? "" : style.boxShadow];
  };
  const rings = (element) =>
    [element, element.parentElement, element.parentElement?.parentElement].filter(Boolean).map(ring);

  // Called after a key was pressed, so that the browser takes focus for the keyboard's.
  function focus() {
    const still = new CSSStyleSheet(); // the site's policy refuses a style in the page
    still.replaceSync("* { transition: none !important; animation: none !important }");
    document.adoptedStyleSheets = [still];
    const kinds = new Map();
    for (const element of all(FOCUSABLE)) {
      if (element.tabIndex < 0 || element.disabled || !element.checkVisibility()) continue;
      const kind = `${element.localName} ${element.className} ${place(element.parentElement)}`;
      if (!kinds.has(kind)) kinds.set(kind, element);
    }
    const faults = [];
    for (const element of kinds.values()) {
      document.activeElement?.blur();
      const before = rings(element);
      element.focus({ preventScroll: true });
      if (document.activeElement !== element) continue;
      const after = rings(element);
      const marked = after.some((own, i) => own.some((part, j) => part && part !== before[i][j]));
      const box = element.getBoundingClientRect();
      if (!marked) faults.push(`focus: ${place(element)} does not show that it has it`);
      else if (box.width <= 1 || box.height <= 1)
        faults.push(`focus: ${place(element)} has it and cannot be seen`);
    }
    document.activeElement?.blur();
    document.adoptedStyleSheets = [];
    return faults;
  }

  // Reading without scripts

  function folded(element) {
    const summary = element.closest("summary");
    const within = summary ? summary.parentElement.parentElement : element;
    return within.closest("details:not([open])") !== null;
  }

  // All text of the page's body is there to read, or in a fold that opens without a script.
  function unreadable() {
    const faults = [];
    for (const [node, element] of texts(document.querySelector("main article") ?? document.body)) {
      if (element.closest("title, desc, annotation, [role=tooltip], [popover]")) continue;
      const explorer = element.closest("attention-explorer, trained-attention");
      if (explorer?.matches(":defined") && element.closest(".explorer-before, tr[hidden]"))
        continue; // the explorer has taken its place, and hides the words that come later
      if (element.closest("html:not([data-mode]) form")) continue; // what only a script can use
      if (folded(element) || !/\w\w/.test(node.data)) continue;
      const chrome = element.closest("button, input, option, nav, summary, .headerlink, .visually-hidden");
      if (chrome || element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        continue;
      faults.push(`unreadable: ${quote(node.data)} in ${place(element)} is hidden`);
    }
    return faults;
  }

  const name = (element) => named(element) || element.title || element.textContent.trim();

  // Links

  // Headings, figures and numbered equations can be sent to somebody.
  function permalinks() {
    return all("article :is(section[id] > :is(h1, h2, h3, .heading), figure[id], .math-display[id])")
      .filter((part) => {
        const id = (part.matches("h1, h2, h3, .heading") ? part.parentElement : part).id;
        const own = part.querySelector(`a[href="#${CSS.escape(id)}"]`) ?? part.querySelector(".headerlink");
        return !own;
      })
      .map((part) => `link: ${place(part)} ${quote(part.textContent)} has no permanent link`);
  }

  // On paper

  function unprinted() {
    const faults = shown("button, nav, input, .headerlink, .skip-link, .hide > summary")
      .map((part) => `print: ${place(part)} ${quote(name(part))} is printed`);
    for (const block of shown("pre"))
      if (block.scrollWidth > block.clientWidth + 1)
        faults.push(`print: ${place(block)} is cut off: ${quote(block.textContent)}`);
    return faults;
  }

  function dark() {
    return luminance(behind(document.body)) < 0.2 ? ["dark"] : [];
  }

  return {
    sideways, contrast, mathematics, focus, unreadable, permalinks, unprinted, dark,
  };
})();
