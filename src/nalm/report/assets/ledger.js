// The ledger: entries by verdict, and the cells of an entry.

function buildLedger(report) {
  const table = document.getElementById("ledger-table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const width = table.tHead.rows[0].cells.length;
  const state = { verdict: "all" };
  const choose = buttons("Verdict", ["all", ...report.verdicts, "not run"], (name) => name === state.verdict, (name, pressed) => {
    state.verdict = name;
    for (const b of choose.children) b.setAttribute("aria-pressed", String(b === pressed));
    for (const detail of body.querySelectorAll(".detail")) detail.remove();
    for (const row of rows) {
      row.querySelector("button")?.setAttribute("aria-expanded", "false");
      row.hidden = !(name === "all" || (name === "not run" ? !report.ledger[row.dataset.entry] : row.hasAttribute(`data-${name.replaceAll("_", "-")}`)));
    }
    grid.refresh();
  });
  for (const button of choose.children) button.textContent = words(button.textContent);
  document.getElementById("ledger-controls").append("Entries with", choose);

  for (const row of rows) {
    const entry = report.ledger[row.dataset.entry];
    if (!entry) continue;
    const head = row.cells[0];
    head.replaceChildren(opener(head.textContent, () => element("tr", { class: "detail" }, element("td", { colspan: width }, ...entryDetail(entry)))));
  }
  table.parentElement.removeAttribute("tabindex"); // the table itself is the stop
  const grid = makeGrid(table, "Ledger");
  grid.refresh();
}

function entryDetail(entry) {
  const lines = entry.cells.map((cell) => element("tr", {},
    element("td", {}, cell.row), element("td", { class: "prose" }, cell.column),
    element("td", {}, cell.paper), element("td", {}, cell.ours), element("td", { class: "number" }, cell.n ?? ""),
    element("td", { class: "prose" }, element("span", { class: cell.verdict }, words(cell.verdict)), cell.weak ? " (weak)" : "", cell.why ? `: ${cell.why}` : "")));
  const heads = ["row", "column", "paper", "ours", "runs", "verdict"].map((title) => element("th", { scope: "col" }, title));
  return [
    element("p", {}, entry.source, ". ", element("code", {}, entry.command), entry.reduced.length ? `. Reduced: ${entry.reduced.join("; ")}.` : "."),
    entry.note ? element("p", {}, entry.note) : null,
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines)),
  ].filter(Boolean);
}
