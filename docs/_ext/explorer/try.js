// Loads the explorer when it is first wanted: a fold is opened, or a link leads into one.
(() => {
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const [first] = document.getElementsByTagName("attention-explorer");
  let isLoaded = false;
  const load = () => {
    if (isLoaded) return;
    isLoaded = true;
    for (const file of JSON.parse(first.dataset.given).later) {
      const script = document.createElement("script");
      script.src = folder + file;
      script.async = false; // in this order
      document.head.append(script);
    }
  };
  const follow = () => /^#try-\d(\?|%3F|$)/i.test(location.hash) && load();
  for (const fold of document.querySelectorAll(".explorer-fold"))
    fold.addEventListener("toggle", load);
  addEventListener("hashchange", follow);
  follow();
})();
