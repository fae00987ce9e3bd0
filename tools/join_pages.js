// Joins the book's pages into the one that is open, for print_book.py, and returns the links that
// lead nowhere and what doesn't fit the sheet. Ids get their page's name, since pages share some.
async ({pages, title, style}) => {
  const root = new URL("./", location.href);
  const files = new Map(pages.map((page) => [new URL(page.file, root).pathname, page]));
  const named = (page, id) => "page-" + page.file.replace(/\W+/g, "-") + (id ? "--" + id : "");
  const make = (tag, name, ...content) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...content);
    return made;
  };

  const lead = (link, page) => {
    const to = new URL(link.getAttribute("href"), new URL(page.file, root));
    if (to.origin !== root.origin) return;
    const target = files.get(to.pathname);
    if (target) link.setAttribute("href", "#" + named(target, decodeURIComponent(to.hash.slice(1))));
    else link.replaceWith(...link.childNodes);
  };

  const rename = (element, page) => {
    for (const {name, value} of [...element.attributes]) {
      if (name === "id") element.id = named(page, value);
      else if (/^(aria-(labelledby|describedby|controls|details)|for|headers)$/.test(name))
        element.setAttribute(name, value.split(/\s+/).map((id) => named(page, id)).join(" "));
      else if (value.includes("url(#"))
        element.setAttribute(name, value.replace(/url\(#([^)]+)\)/g, (_, id) => `url(#${named(page, id)})`));
    }
  };

  const demote = (article, levels) => {
    for (const old of article.querySelectorAll("h1, h2, h3, h4, h5")) {
      const now = make("h" + Math.min(6, +old.tagName[1] + levels), old.className, ...old.childNodes);
      if (old.id) now.id = old.id;
      old.replaceWith(now);
    }
  };

  const read = async (page) => {
    const answer = await fetch(new URL(page.file, root));
    if (!answer.ok) throw new Error(page.file + ": " + answer.status);
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    const article = document.importNode(found.querySelector("article"), true);
    const foot = found.querySelector(".verified-foot");
    if (foot) article.append(document.importNode(foot, true));
    article.querySelectorAll("script, .headerlink, .copybtn, .explorer-fold").forEach((one) => one.remove());
    article.querySelectorAll(".heading").forEach((one) => one.replaceWith(...one.childNodes));
    article.querySelectorAll("details:not(.drift-mark, .drift-mark *)").forEach((one) => { one.open = true; });
    article.querySelectorAll("img[src]").forEach((one) => {
      one.src = new URL(one.getAttribute("src"), new URL(page.file, root));
    });
    article.querySelectorAll("a[href]").forEach((one) => lead(one, page));
    article.querySelectorAll("*").forEach((one) => rename(one, page));
    demote(article, Math.max(0, page.depth - 1));
    article.classList.add(page.depth > 1 ? "book-section" : "book-page");
    article.id = named(page, "");
    return article;
  };

  const articles = [];
  for (const page of pages) articles.push(await read(page));
  const entries = pages.map((page, place) => {
    const link = make("a", "", articles[place].querySelector("h1, h2, h3").textContent.trim());
    link.href = "#" + named(page, "");
    const entry = make("li", "", link);
    entry.style.paddingInlineStart = 1.5 * Math.max(0, page.depth - 1) + "em";
    return entry;
  });
  const contents = make("nav", "book-contents", make("p", "toc-title", "Contents"), make("ul", "", ...entries));
  const main = make("main", "bd-main", make("div", "bd-article-container",
    make("p", "book-title", title), contents, ...articles));
  document.title = title;
  document.documentElement.dataset.theme = "light";
  document.documentElement.dataset.mode = "light";
  document.body.replaceChildren(make("div", "bd-container", main));
  document.head.append(make("style", "", style));
  document.querySelectorAll("script").forEach((one) => one.remove());
  await document.fonts.ready;
  const lost = [...document.querySelectorAll("a[href^='#']")]
    .map((link) => link.getAttribute("href").slice(1))
    .filter((id) => !document.getElementById(id));
  const edge = document.documentElement.clientWidth;
  const cut = [...document.querySelectorAll("article *")]
    .filter((one) => one.getBoundingClientRect().right > edge + 1
      || (getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1))
    .map((one) => `${one.closest("article").id}: ${one.textContent.trim().slice(0, 40)}`);
  return {lost, cut};
}
