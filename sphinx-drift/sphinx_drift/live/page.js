/* Put into each page by the server, never into the output: reloads, finds the place, shows reports. */
(() => {
  "use strict";
  const KEY = "sphinx-drift-live";
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
    let result = blocks[index];
    for (let next = index; next < blocks.length && result.contains(blocks[next]); next += 1) {
      if (!known.has(texts[next])) result = blocks[next];
    }
    return result;
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

  function element(name, text, parent) {
    const node = document.createElement(name);
    node.textContent = text;
    parent.append(node);
    return node;
  }

  function write(pre, text) {
    for (const line of text.split("\n")) {
      const kind = { "-": "documented", "+": "executed" }[line.trimStart()[0]];
      const row = element("span", `${line}\n`, pre);
      if (kind) row.className = kind;
    }
  }

  // What a build reports stands below the page, in a tree of its own that no style of the page's reaches.
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  let box = null;
  let status = null;

  function close() {
    box?.remove();
    box = null;
  }

  function prepare() {
    element("style", STYLE, root);
    status = element("p", "", root);
    status.setAttribute("role", "status");
    document.body.append(host);
  }

  function showFailures(failures) {
    close();
    if (failures.length === 0) return;
    box = element("section", "", root);
    box.setAttribute("role", "alert");
    box.setAttribute("aria-label", "What the last build found");
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
  }

  const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

  function runsText({ pages, all, running }) {
    const count = Object.keys(pages).length;
    if (all) return `${count === 1 ? "The page with code" : `All ${count} pages with code`} ran at ${clock(all)}`;
    const name = location.pathname.slice(1).replace(/(^|\/)$/, "$1index.html");
    const last = pages[name] ? [`Last run ${clock(pages[name])}`] : [];
    return [...last, ...(running ? ["running all pages…"] : [])].join("; ");
  }

  function showReport({ failures, runs }) {
    showFailures(failures);
    const text = runs ? runsText(runs) : "";
    if (status.textContent !== text) status.textContent = text; // read aloud only when it changes
  }

  const STYLE = `
    :host { position: fixed; inset: auto 0 0 0; z-index: 2147483647; pointer-events: none; }
    @media print { :host { display: none; } }
    [role=status] { width: fit-content; margin: 0; padding: 0.125rem 0.5rem; background: #1d1f23; color: #f4f4f4;
      border-radius: 0 4px 0 0; font: 12px/1.45 system-ui, sans-serif; }
    [role=status]:empty { padding: 0; }
    section { pointer-events: auto; max-height: 60vh; overflow: auto;
      padding: 0.75rem 1.25rem 1.25rem; background: #1d1f23; color: #f4f4f4; border-top: 4px solid #ff6b6b;
      font: 16px/1.45 system-ui, sans-serif; }
    h2 { font-size: 1.1rem; margin: 0 0 0.5rem; } h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
    pre { margin: 0; overflow-x: auto; font: 14px/1.45 ui-monospace, monospace; }
    .documented { color: #ff9d9d; } .executed { color: #8fe39b; }
    button { float: right; font: inherit; color: inherit; background: #3a3d44; border: 1px solid #8a8f99;
      border-radius: 4px; padding: 0.25rem 0.75rem; cursor: pointer; }
    button:focus-visible, pre:focus-visible { outline: 3px solid #7cc4ff; outline-offset: 2px; }`;

  addEventListener("keydown", (event) => event.key === "Escape" && close());

  async function isChanged() {
    const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
    const tag = answer.headers.get("ETag"); // none while the page is gone
    return tag !== null && tag !== `"${script.dataset.digest}"`;
  }

  // A report may come before the one before has been looked into: the last one counts.
  let last = null;

  async function hear({ data: report }) {
    last = report;
    const changed = await isChanged().catch(() => false);
    if (changed) reload();
    else if (report === last) showReport(report);
  }

  let server = null;

  function listen() {
    server = new SharedWorker("/-live/worker.js").port;
    server.onmessage = hear;
  }

  addEventListener("pagehide", () => {
    server.postMessage("bye");
    server.close();
  });
  addEventListener("pageshow", (event) => event.persisted && listen()); // back by the browser's button
  prepare();
  listen();
  comeBack();
})();
