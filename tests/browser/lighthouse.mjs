// Runs Lighthouse over a list of pages in one Chromium; one line of JSON for each page and form.
// Usage: node lighthouse.mjs FOLDER FORM ADDRESS NAME [ADDRESS NAME ...], with CHROME_PATH set.
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

// The package lies where it was installed, which need not be above this file.
const require = createRequire(join(process.env.LIGHTHOUSE_HOME, "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { default: lighthouse, desktopConfig } = await load("lighthouse");
const { launch } = await load("chrome-launcher");

const [folder, form, ...rest] = process.argv.slice(2);
const flags = ["--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--no-proxy-server"];
const chrome = await launch({ chromeFlags: flags, logLevel: "error" });
try {
  for (let i = 0; i < rest.length; i += 2) {
    const [address, name] = rest.slice(i, i + 2);
    const options = { port: chrome.port, output: "json", logLevel: "error" };
    const { lhr, report } = await lighthouse(address, options, form === "desktop" ? desktopConfig : undefined);
    const file = join(folder, `${name}.${form}.json`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, report);
    const scores = Object.fromEntries(
      Object.values(lhr.categories).map(({ id, score }) => [id, Math.round((score ?? 0) * 100)]));
    const lost = Object.values(lhr.categories).flatMap(({ id, auditRefs }) => auditRefs
      .filter(({ id: audit, weight }) => weight && (lhr.audits[audit].score ?? 1) < 0.9)
      .map(({ id: audit }) => `${id}: ${lhr.audits[audit].title} (${lhr.audits[audit].displayValue ?? audit})`));
    console.log(JSON.stringify({ name, form, scores, lost, error: lhr.runtimeError?.message ?? "" }));
  }
} finally {
  await chrome.kill();
}
