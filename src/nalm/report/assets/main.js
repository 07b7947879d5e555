// Builds the page; errors are shown on the page.

async function main() {
  const report = await unpackJson("data");
  report.sections.forEach((section) => buildTask(section, report));
  if (report.rows.length) {
    buildTable(report);
    buildRun(report);
  }
  buildLedger(report);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  if (report.rows.length) await loadPlotly();
  document.documentElement.dataset.ready = String(Math.round(performance.now())); // how long it took
}

function complain(what) {
  const fault = document.getElementById("fault");
  fault.hidden = false;
  fault.textContent = `Part of this page could not be shown: ${what}. It needs a browser from 2023 or later.`;
}

addEventListener("error", (event) => complain(event.message));
addEventListener("unhandledrejection", (event) => complain(event.reason?.message ?? event.reason));
main();
