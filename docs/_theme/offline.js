// A saved copy of the whole book, for readers without a network. What a page shows comes from the
// network whenever there is one; a page of the copy says that it is one. BUILD is the digest of the
// list of files, and the list has the digest of each: a copy is of one build, or there is none.
const BUILD = "@BUILD@";
const MINE = `book ${registration.scope} `;
const COPY = MINE + BUILD;

const save = async () => {
  const list = await fetch("offline.json", { integrity: BUILD, cache: "no-cache" });
  const files = Object.entries(await list.json());
  const copy = await caches.open(COPY);
  const asked = ([name, integrity]) => new Request(name, { integrity, cache: "no-cache" });
  await copy.addAll(files.map(asked));
};

const forgetOthers = async () => {
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith(MINE) && name !== COPY);
  await Promise.all(others.map((name) => caches.delete(name)));
  await clients.claim();
};

const saved = async (request, error) => {
  const copy = await caches.open(COPY);
  const url = request.url.replace(/[?#].*/, "").replace(/\/$/, "/index.html");
  const found = await copy.match(url, { ignoreVary: true });
  if (!found) throw error;
  if (request.mode !== "navigate") return found;
  const day = new Date(found.headers.get("date")).toLocaleDateString("en-GB", { dateStyle: "long" });
  const note = `<p class="saved-copy">No network: this page is a copy that your browser saved on ${day}. The book may have changed since.</p>`;
  const page = (await found.text()).replace(/<article[^>]*>/, (start) => start + note);
  return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
};

addEventListener("install", (event) => event.waitUntil(save().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(registration.scope)) return;
  const page = request.mode === "navigate"; // asked for anew, whatever the browser remembers
  const answer = page ? fetch(request, { cache: "no-cache" }) : fetch(request);
  event.respondWith(answer.catch((error) => saved(request, error)));
});
