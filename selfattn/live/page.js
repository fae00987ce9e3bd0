/* Put into each page by the server, never into the output: reloads, finds the place, tells. */
(() => {
  "use strict";
  const KEY = "selfattn-live";
  const BLOCKS = "p, li, dt, dd, h1, h2, h3, h4, h5, h6, pre, td, th, figure, summary, math[display=block]";
  const script = document.currentScript;
  const main = document.querySelector("article, main, [role=main]") || document.body;
  // The script runs while the page is still as it was served: no other script has changed it.
  const blocks = [...main.querySelectorAll(BLOCKS)];
  const texts = blocks.map((block) => block.outerHTML);

  function firstDifference(before, after) {
    let index = 0;
    while (index < before.length && index < after.length && before[index] === after[index]) index += 1;
    if (index === before.length && index === after.length) return -1;
    return Math.min(index, after.length - 1);
  }

  // An element differs if one inside it does: the innermost is the paragraph.
  function innermost(index, before) {
    const known = new Set(before);
    let found = blocks[index];
    for (let next = index; next < blocks.length && found.contains(blocks[next]); next += 1) {
      if (!known.has(texts[next])) found = blocks[next];
    }
    return found;
  }

  function show(element) {
    element.closest("details")?.setAttribute("open", "");
    element.scrollIntoView({ block: "center", behavior: "instant" });
    element.animate?.([{ background: "#ffd54a88" }, { background: "transparent" }], 1500);
  }

  function comeBack() {
    const kept = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    if (!kept) return;
    const { path, before, y } = JSON.parse(kept);
    if (path !== location.pathname) return;
    history.scrollRestoration = "manual";
    const index = firstDifference(before, texts);
    const place = () => (index < 0 ? scrollTo({ top: y, behavior: "instant" }) : show(innermost(index, before)));
    place();
    addEventListener("load", place, { once: true });
    document.documentElement.dataset.liveBlock = String(index);
  }

  function reload() {
    sessionStorage.setItem(KEY, JSON.stringify({ path: location.pathname, before: texts, y: scrollY }));
    location.reload();
  }

  let overlay = null;

  function close() {
    overlay?.remove();
    overlay = null;
  }

  function element(name, text, parent) {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  function write(pre, text) {
    for (const line of text.split("\n")) {
      const kind = { "-": "documented", "+": "executed" }[line.trimStart()[0]];
      const row = element("span", `${line}\n`, pre);
      if (kind) row.className = kind;
    }
  }

  function tell(failures) {
    close();
    if (failures.length === 0) return;
    overlay = document.createElement("div");
    const root = overlay.attachShadow({ mode: "open" });
    element("style", STYLE, root);
    const box = document.createElement("section");
    box.setAttribute("role", "alert");
    box.setAttribute("aria-label", "What the last build found");
    root.append(box);
    const button = element("button", "Close", box);
    button.type = "button";
    button.addEventListener("click", close);
    element("h2", "What the last build found", box);
    for (const failure of failures) {
      element("h3", failure.title, box);
      const pre = element("pre", "", box);
      pre.tabIndex = 0;
      write(pre, failure.text);
    }
    document.body.append(overlay);
  }

  const STYLE = `
    section { position: fixed; inset: auto 0 0 0; z-index: 2147483647; max-height: 60vh; overflow: auto;
      padding: 0.75rem 1.25rem 1.25rem; background: #1d1f23; color: #f4f4f4; border-top: 4px solid #ff6b6b;
      font: 16px/1.45 system-ui, sans-serif; }
    h2 { font-size: 1.1rem; margin: 0 0 0.5rem; } h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
    pre { margin: 0; overflow-x: auto; font: 14px/1.45 ui-monospace, monospace; }
    .documented { color: #ff9d9d; } .executed { color: #8fe39b; }
    button { float: right; font: inherit; color: inherit; background: #3a3d44; border: 1px solid #8a8f99;
      border-radius: 4px; padding: 0.25rem 0.75rem; cursor: pointer; }
    button:focus-visible, pre:focus-visible { outline: 3px solid #7cc4ff; outline-offset: 2px; }`;

  addEventListener("keydown", (event) => event.key === "Escape" && close());

  const query = new URLSearchParams({ path: location.pathname, digest: script.dataset.digest });
  const events = new EventSource(`/-live/events?${query}`);
  events.addEventListener("changed", reload);
  events.addEventListener("built", (event) => tell(JSON.parse(event.data).failures));
  addEventListener("pagehide", () => events.close());
  comeBack();
})();
