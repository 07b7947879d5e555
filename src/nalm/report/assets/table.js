// All rows: sorted, filtered, downloaded; a row opens to show its settings.

const COLUMNS = [
  { title: "unit", of: (row) => row.label },
  { title: "task", of: (row, report) => report.sections[row.section].title },
  { title: "op", of: (row) => row.op },
  { title: "range", of: (row) => row.range },
  { title: "steps", of: (row) => row.iterations, show: (row) => row.iterations.toLocaleString("en"), number: true },
  { title: "success", of: (row) => row.success.rate, show: (row) => withInterval(row.success.rate, row.success.low, row.success.high, rate), number: true },
  { title: "solved at", of: (row) => row.solved_at.mean, show: (row) => withInterval(row.solved_at.mean, row.solved_at.low, row.solved_at.high), number: true },
  { title: "sparsity error", of: (row) => row.sparsity.mean, show: (row) => withInterval(row.sparsity.mean, row.sparsity.low, row.sparsity.high), number: true },
  { title: "runs", of: (row) => row.runs, number: true },
];

// Of tasks that are about a formula.
const FORMULA_COLUMNS = [
  { title: "target", of: (row) => row.target ?? null, formula: true },
  { title: "equal", of: (row) => row.equal ?? null, show: (row) => equalText(row), number: true },
  { title: "most frequent formula", of: (row) => row.found?.[0][0] ?? null, show: (row) => (row.found ? foundText(row, 1) : "–"), formula: true },
];
const FORMULAS_DOWNLOADED = {
  target: (row) => row.target, equal: (row) => row.equal, formulas_read: (row) => row.read, most_frequent_formula: (row) => row.found?.[0][0],
};
const equalText = (row) => (row.read === undefined ? "–" : `${row.equal} of ${row.read}`);
const equalInWords = (row) => (row.read === undefined ? null : `${equalText(row)} runs${row.read < row.runs ? " on this page" : ""}`);
// The most frequent formulas, each with its number of runs unless all runs have it.
function foundText(row, most) {
  const others = row.formulas - Math.min(most, row.found.length);
  const told = row.found.slice(0, most).map(([formula, n]) => (row.formulas === 1 ? formula : `${formula} (${n})`));
  return told.join(", ") + (others ? ` and ${others} other${others > 1 ? "s" : ""}` : "");
}

const DOWNLOADED = {
  task: (row) => row.task, inputs: (row) => row.inputs, unit: (row) => row.model, variant: (row) => row.variant,
  recipe: (row) => row.recipe, op: (row) => row.op, range: (row) => row.range, train: (row) => row.train, test: (row) => row.test,
  iterations: (row) => row.iterations, threshold: (row) => row.threshold, runs: (row) => row.runs, seeds: (row) => row.seeds,
  success: (row) => row.success.rate, success_low: (row) => row.success.low, success_high: (row) => row.success.high,
  solved_at_median: (row) => row.solved_at.median, solved_at_mean: (row) => row.solved_at.mean,
  solved_at_low: (row) => row.solved_at.low, solved_at_high: (row) => row.solved_at.high,
  sparsity: (row) => row.sparsity.mean, sparsity_low: (row) => row.sparsity.low, sparsity_high: (row) => row.sparsity.high,
  solved: (row) => row.outcomes.solved, not_extrapolating: (row) => row.outcomes.not_extrapolating,
  not_converged: (row) => row.outcomes.not_converged, diverged: (row) => row.outcomes.diverged, not_sparse: (row) => row.not_sparse,
  recipe_text: (row, report) => report.recipes[row.recipe_text], versions: (row, report) => row.machines.map((m) => report.machines[m]).join("; "),
  computed_first: (row) => row.computed[0], computed_last: (row) => row.computed[1],
};

function csv(rows, report) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    if (typeof value === "string" && /^[=+@]/.test(text)) return quoted(`'${text}`); // a spreadsheet would compute it
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const columns = report.rows.some((row) => row.names) ? { ...DOWNLOADED, ...FORMULAS_DOWNLOADED } : DOWNLOADED;
  const lines = rows.map((row) => Object.values(columns).map((of) => quoted(of(row, report))).join(","));
  return [Object.keys(columns).join(","), ...lines].join("\r\n") + "\r\n";
}

function buildTable(report) {
  const able = report.rows.some((row) => row.names) ? [...COLUMNS.slice(0, 3), ...FORMULA_COLUMNS, ...COLUMNS.slice(3)] : COLUMNS;
  const columns = report.sections.length > 1 ? able : able.filter((column) => column.title !== "task");
  const state = { words: "", op: "", sort: null, down: false, rows: report.rows }; // at first in the order of the catalogue
  const home = document.getElementById("table");
  const count = element("span", { role: "status", id: "count" });
  const body = element("tbody");
  const lines = new Map(); // the row of the page in each line
  const texts = new Map(report.rows.map((row) => [row, able.map((c) => String(c.of(row, report))).join(" ").toLowerCase()]));

  const heads = columns.map((column) => element("th", { scope: "col", class: column.number ? "number" : null }, element("button", {
    type: "button", tabindex: "-1",
    onclick: () => {
      state.down = state.sort === column ? !state.down : Boolean(column.number);
      state.sort = column;
      update();
    },
  }, column.title)));

  const table = element("table", { id: "rows" }, element("thead", {}, element("tr", {}, ...heads)), body);
  const filter = element("input", { type: "search", id: "filter", placeholder: "nmu mul 1:2", size: "24", oninput: () => {
    state.words = filter.value.toLowerCase();
    update();
  } });
  const ops = [...new Set(report.rows.map((row) => row.op))];
  home.append(
    element("div", { class: "controls" },
      element("label", { for: "filter" }, "Filter"), filter,
      choice("Operation", [{ value: "", text: "all" }, ...ops.map((op) => ({ value: op, text: op }))], "", (op) => {
        state.op = op;
        update();
      }),
      element("button", { type: "button", id: "download", onclick: () => download("nalm-results.csv", csv(state.rows, report)) }, "Download CSV"),
      count),
    element("div", { class: "scroll tall" }, table),
    element("p", { class: "none keys" }, "By keyboard the table is one stop: arrow keys, Home, End, Page Up and Page Down move in it, Enter on a heading sorts, Enter on a line shows its runs and Escape returns, Space opens its settings."));
  // Lines of which the page has no runs open to their settings.
  const grid = makeGrid(table, "Table of results", {
    Enter: (cell, line) => (lines.get(line)?.detailed ? report.showRun(lines.get(line)) : toggle(line)),
  });

  // Ranges in the order of the papers, other texts after them in alphabetical order.
  const place = (text) => (report.order.indexOf(text) + 1 || report.order.length + 1);

  function update() {
    const wanted = state.words.split(/\s+/).filter(Boolean);
    const column = state.sort;
    const compare = (a, b) => {
      if (!column) return 0;
      const [x, y] = [column.of(a, report), column.of(b, report)];
      if (x === y) return 0;
      if (x === null) return 1; // missing values come last in either direction
      if (y === null) return -1;
      const order = typeof x === "string" ? place(x) - place(y) || x.localeCompare(y, "en", { numeric: true }) : x - y;
      return state.down ? -order : order;
    };
    state.rows = report.rows
      .filter((row) => (!state.op || row.op === state.op) && wanted.every((word) => texts.get(row).includes(word)))
      .sort(compare);
    heads.forEach((head, k) => head.setAttribute("aria-sort", columns[k] !== column ? "none" : state.down ? "descending" : "ascending"));
    count.textContent = `${state.rows.length} of ${report.rows.length} rows`;
    lines.clear();
    body.replaceChildren(...state.rows.map(line));
    if (!state.rows.length) body.append(element("tr", {}, element("td", { colspan: columns.length, class: "none" }, "No row matches.")));
    grid.refresh();
  }

  function line(row) {
    const made = element("tr", {}, ...columns.map((column, k) =>
      k === 0 ? element("th", { scope: "row" }, opener(row.label, () => detail(row, report, columns.length)))
        : element("td", { class: column.number ? "number" : column.formula ? "formula-cell" : null }, column.show ? column.show(row) : (column.of(row, report) ?? "–"))));
    lines.set(made, row);
    return made;
  }
  update();
}

function detail(row, report, width) {
  const outcomes = Object.entries(row.outcomes).filter(([, n]) => n).map(([name, n]) => `${n} ${words(name)}`).join(", ");
  const facts = {
    ...(row.names ? { target: row.target, "equal to the target": equalInWords(row), "formulas found": row.found ? foundText(row, row.found.length) : null } : {}),
    "training range": row.train, "test range": row.test, inputs: row.inputs, outcomes,
    "solved but not readable": row.not_sparse, steps: row.iterations.toLocaleString("en"), threshold: short(row.threshold), seeds: row.seeds,
    "differs from the usual in": row.variant || "nothing", recipe: `${row.recipe}: ${report.recipes[row.recipe_text]}`, computed: row.when,
    versions: row.machines.map((m) => report.machines[m]).join("; "),
    "published for these data and steps": publishedText(row, report) || null,
  };
  return element("tr", { class: "detail" }, element("td", { colspan: width },
    element("dl", {}, ...Object.entries(facts).filter(([, value]) => value !== null).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    row.detailed ? element("button", { type: "button", tabindex: "-1", onclick: () => report.showRun(row) }, "Show its runs") : null));
}

// What papers publish for the same data and the same steps.
function publishedText(row, report) {
  return report.published
    .filter((each) => each.section === row.section && each.op === row.op && each.range === row.range && each.budget === row.budget)
    .map(({ label, success, n, source }) => `${label} ${withInterval(success.rate, success.low, success.high, rate)}${n ? ` of ${n} seeds` : ""} (${source})`)
    .join("; ");
}
