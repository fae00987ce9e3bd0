// What the page's own controls can't do without a script. Everything here is optional.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // One switch between light and dark; back at the system's choice, it follows the system again.
  const button = document.querySelector(".theme-switch-button");
  const system = () => (dark.matches ? "dark" : "light");
  const show = (mode) => {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? system() : mode;
    button?.setAttribute("aria-pressed", root.dataset.theme === "dark");
  };
  const keep = (mode) => {
    try {
      localStorage.setItem("mode", mode);
    } catch {
      // The choice then lasts for this page.
    }
  };
  if (button) {
    button.addEventListener("click", () => {
      const wanted = root.dataset.theme === "dark" ? "light" : "dark";
      const mode = wanted === system() ? "auto" : wanted;
      keep(mode);
      show(mode);
    });
  }
  dark.addEventListener("change", () => show(root.dataset.mode));
  addEventListener("storage", (event) => event.key === "mode" && show(event.newValue || "auto"));
  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      try {
        show(localStorage.getItem("mode") || "auto");
      } catch {
        // Nothing was kept.
      }
    }
  });
  show(root.dataset.mode || "auto");

  // A panel closes when it has led somewhere, or when the page grows wide enough to show it.
  const panels = [...document.querySelectorAll(".bd-container > [popover]")];
  const close = (panel) => panel.matches(":popover-open") && panel.hidePopover();
  if (HTMLElement.prototype.hidePopover) {
    for (const panel of panels) {
      panel.addEventListener("click", (event) => event.target.closest("a") && close(panel));
    }
    matchMedia("(min-width: 64rem)").addEventListener("change", () => panels.forEach(close));
  }

  // A long list shows the place one is at: when the page opens, when the list does, when one reads on.
  const reveal = (panel) => {
    const link = panel.querySelector("a.current, [aria-current]");
    if (!link || panel.checkVisibility?.() === false) return; // a closed panel costs no layout
    const [at, box] = [link.getBoundingClientRect(), panel.getBoundingClientRect()];
    if (at.top >= box.top && at.bottom <= Math.min(box.bottom, innerHeight)) return;
    panel.scrollTop += at.top - box.top - box.height / 3;
  };
  for (const panel of panels) {
    reveal(panel);
    panel.addEventListener("toggle", () => reveal(panel));
  }

  // The contents follow the reading: the last heading above a line is the current one. The line is
  // a third below the top, and goes down at the page's end, where headings can't come up to it.
  const links = new Map();
  for (const link of document.querySelectorAll(".page-toc a[href^='#']")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(section, link);
  }
  let shown = null;
  const follow = () => {
    const whole = document.documentElement.scrollHeight - innerHeight;
    const lower = (innerHeight * 2) / 3;
    const left = whole > 0 ? Math.min(1, (whole - scrollY) / Math.min(whole, lower)) : 1;
    let current = null;
    for (const section of links.keys()) {
      if (section.getBoundingClientRect().top < innerHeight - left * lower) current = section;
    }
    for (const [section, link] of links) {
      if (section === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const list = links.get(current)?.closest("[popover]");
    if (list && current !== shown && !list.matches(":hover")) reveal(list);
    shown = current;
  };
  if (links.size) {
    let waiting = false;
    const later = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        follow();
      });
    };
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    later();
  }

  // Code is copied without prompts, and outputs are not: what is copied can be run.
  const status = document.createElement("p");
  status.className = "copied";
  status.setAttribute("role", "status");
  const textOf = (pre) => {
    const code = pre.cloneNode(true);
    const session = code.querySelector(".gp");
    for (const part of code.querySelectorAll(".linenos, .gp, .go, .gt")) part.remove();
    const text = code.textContent.replace(/\n+$/, "");
    return session ? text.replace(/\n{2,}/g, "\n") : text;
  };
  const put = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("no clipboard");
  };
  for (const pre of document.querySelectorAll(".highlight > pre")) {
    if (pre.closest(".cell_output, .highlight-none, .highlight-ipythontb")) continue;
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copybtn";
    copy.title = "Copy";
    copy.setAttribute("aria-label", "Copy code");
    copy.innerHTML =
      '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><rect x="7" y="7" width="9.5" height="9.5" rx="1.5"/><path d="M13 7V5a1.5 1.5 0 0 0-1.5-1.5H5A1.5 1.5 0 0 0 3.5 5v6.5A1.5 1.5 0 0 0 5 13h2"/></svg>';
    copy.addEventListener("click", async () => {
      const told = await put(textOf(pre)).then(
        () => "Copied",
        () => "Not copied: the browser forbids it",
      );
      status.textContent = told;
      copy.dataset.told = told;
      copy.classList.add("success");
      setTimeout(() => {
        copy.classList.remove("success");
        status.textContent = "";
      }, 2000);
    });
    pre.after(copy);
  }
  document.body.append(status);

  // What scrolls sideways can be scrolled by the keyboard too, and says what it is.
  const boxes = new Map();
  for (const [kind, name] of [
    ["pre", "Code"],
    [".cell_output pre", "Output"],
    [".math-display", "Formula"],
    [".pst-scrollable-table-container", "Table"],
  ]) {
    for (const box of document.querySelectorAll(kind)) boxes.set(box, name);
  }
  // An observer is called once a page is laid out, so that looking costs no layout of its own.
  const widths = new ResizeObserver((seen) => {
    const isWide = seen.map(({ target }) => target.scrollWidth > target.clientWidth);
    for (const [i, { target }] of seen.entries()) {
      if ("numbers" in target.dataset) continue; // numbers.js makes it reachable
      const given = { tabindex: "0", role: "group", "aria-label": boxes.get(target) };
      for (const [attribute, value] of Object.entries(given)) {
        if (isWide[i]) target.setAttribute(attribute, value);
        else target.removeAttribute(attribute);
      }
    }
  });
  const watch = () => {
    widths.disconnect();
    for (const box of boxes.keys()) widths.observe(box);
  };
  watch();
  document.fonts?.ready.then(watch); // a font widens what is in a box, and not the box

  // One mark is open at a time; Escape and a click elsewhere close it. Ctrl+K searches.
  const opened = () => document.querySelectorAll(".drift-mark details[open]");
  addEventListener("click", (event) => {
    for (const mark of opened()) if (!mark.contains(event.target)) mark.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const mark of opened()) mark.open = false;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing || !(event.ctrlKey || event.metaKey) || event.key !== "k") return;
    const field = [...document.querySelectorAll("input[type=search]")].find((f) => f.offsetParent);
    if (!field) return;
    event.preventDefault();
    field.focus();
  });

  // Once somebody reads, the browser saves a copy of the book for when there is no network. Pages of
  // a live session change all the time, and pages of a folder are there anyway.
  const worker = new URL("../offline.js", document.currentScript.src);
  const signs = ["keydown", "pointerdown", "scroll"];
  const reading = () => {
    for (const sign of signs) removeEventListener(sign, reading);
    // A browser may want none of it, and a host may have altered the pages.
    navigator.serviceWorker.register(worker).catch(() => {});
  };
  const live = document.querySelector("script[src^='/-live/']");
  if (worker.protocol !== "file:" && navigator.serviceWorker && !live && !navigator.connection?.saveData) {
    for (const sign of signs) addEventListener(sign, reading, { passive: true });
  }

  // On paper every fold is open.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("article details:not([open])")];
    for (const fold of folded) fold.open = !fold.closest(".drift-mark");
  });
  addEventListener("afterprint", () => {
    for (const fold of folded) fold.open = false;
  });
})();
