// What the page's controls can't do without a script. Everything here is optional.
(() => {
  const root = document.documentElement;

  // One switch between light and dark; back at the system's choice, it follows the system again.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector(".theme-switch-button");
  const system = () => (dark.matches ? "dark" : "light");
  const show = (mode) => {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? system() : mode;
    button.setAttribute("aria-pressed", root.dataset.theme === "dark");
  };
  button.addEventListener("click", () => {
    const wanted = root.dataset.theme === "dark" ? "light" : "dark";
    const mode = wanted === system() ? "auto" : wanted;
    show(mode);
    try {
      localStorage.setItem("mode", mode);
    } catch {
      // The choice then lasts for this page.
    }
  });
  dark.addEventListener("change", () => show(root.dataset.mode));
  addEventListener("storage", (event) => event.key === "mode" && show(event.newValue || "auto"));
  show(root.dataset.mode || "auto");

  // A panel closes when it has led somewhere, and opens at the page one is on.
  for (const panel of document.querySelectorAll(".bd-sidebar")) {
    const reveal = () => panel.querySelector("a.current")?.scrollIntoView({ block: "nearest" });
    panel.addEventListener("toggle", (event) => event.newState === "open" && reveal());
    panel.addEventListener("click", (event) => {
      if (event.target.closest("a") && panel.matches(":popover-open")) panel.hidePopover();
    });
  }

  // The page's contents mark the section that is being read: the last that begins above the middle.
  const links = new Map();
  for (const link of document.querySelectorAll(".page-toc a[href^='#']")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(section, link);
  }
  const follow = () => {
    const atEnd = scrollY + innerHeight >= root.scrollHeight - 2;
    const line = atEnd ? innerHeight : innerHeight / 2;
    const begun = [...links.keys()].filter((s) => s.getBoundingClientRect().top < line);
    for (const [section, link] of links) {
      if (section === begun.at(-1)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  if (links.size) {
    addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
    requestAnimationFrame(follow);
  }

  // Code is copied without prompts and outputs: what is copied can be run.
  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  document.body.append(status);
  const textOf = (pre) => {
    const code = pre.cloneNode(true);
    for (const part of code.querySelectorAll(".linenos, .gp, .go, .gt")) part.remove();
    const text = code.textContent.replace(/\n+$/, "");
    return pre.querySelector(".gp") ? text.replace(/\n{2,}/g, "\n") : text;
  };
  const ICON =
    '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">' +
    '<rect x="7" y="7" width="9.5" height="9.5" rx="1.5"/>' +
    '<path d="M13 7V5a1.5 1.5 0 0 0-1.5-1.5H5A1.5 1.5 0 0 0 3.5 5v6.5A1.5 1.5 0 0 0 5 13h2"/></svg>';
  for (const pre of navigator.clipboard ? document.querySelectorAll(".highlight > pre") : []) {
    if (pre.closest(".cell_output, .highlight-none, .highlight-ipythontb")) continue;
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copybtn";
    copy.title = "Copy";
    copy.setAttribute("aria-label", "Copy code");
    copy.innerHTML = ICON;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(textOf(pre));
      status.textContent = "Copied";
      copy.classList.add("success");
      setTimeout(() => {
        copy.classList.remove("success");
        status.textContent = "";
      }, 2000);
    });
    pre.after(copy);
  }

  // What scrolls sideways can be scrolled by the keyboard too, and says what it is.
  const NAMES = {
    ".cell_output pre": "Output",
    pre: "Code",
    ".math-display": "Formula",
    ".pst-scrollable-table-container": "Table",
  };
  // An observer is called once a page is laid out, so that looking costs no layout of its own.
  const widths = new ResizeObserver((seen) => {
    for (const { target: box } of seen) {
      const isWide = box.scrollWidth > box.clientWidth;
      const name = Object.keys(NAMES).find((selector) => box.matches(selector));
      const given = { tabindex: "0", role: "group", "aria-label": NAMES[name] };
      for (const [attribute, value] of Object.entries(given)) {
        if (isWide) box.setAttribute(attribute, value);
        else box.removeAttribute(attribute);
      }
    }
  });
  const watch = () => {
    widths.disconnect();
    for (const box of document.querySelectorAll(Object.keys(NAMES).join())) widths.observe(box);
  };
  watch();
  document.fonts?.ready.then(watch); // a font widens what is in a box, and not the box

  // A link to a fold, or into one, opens it.
  const unfold = () => {
    const fold = document.getElementById(location.hash.slice(1))?.closest("details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  // Escape closes the notes of marks, and so does a touch elsewhere.
  const closeNotes = (but) => {
    for (const note of document.querySelectorAll(".drift-mark details[open]"))
      if (!note.contains(but)) note.open = false;
  };
  addEventListener("keydown", (event) => event.key === "Escape" && closeNotes(null));
  addEventListener("pointerdown", (event) => closeNotes(event.target));
})();
