/* Shared by all tabs of a browser: listens to the server once, and passes on what builds report. */
"use strict";
const tabs = new Set();
let report = null;

onconnect = (event) => {
  const [tab] = event.ports;
  tabs.add(tab);
  tab.onmessage = () => tabs.delete(tab); // all that a tab ever sends is that it goes
  if (report !== null) tab.postMessage(report);
};

new EventSource("/-live/events").onmessage = (event) => {
  report = JSON.parse(event.data);
  for (const tab of tabs) tab.postMessage(report);
};
