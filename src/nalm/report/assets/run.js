// A single run: its curve, its weights over time, its formula.

function buildRun(report) {
  const home = document.getElementById("run");
  const shown = report.rows.filter((row) => row.detailed); // a page of a large store does not have the runs of every row
  const state = { row: shown[0], seed: null };
  const controls = element("div", { class: "controls", id: "run-controls" });
  const facts = element("div", { id: "run-facts", "aria-live": "polite" });
  const nothing = () => ({ traces: [], layout: baseLayout({}, {}) });
  const curve = plot("Errors over time of a run", nothing);
  const weights = plot("Weights over time of a run", nothing);
  const note = element("p", { class: "none" });
  const overTime = element("div", { class: "panels" },
    element("div", { class: "panel" }, element("h3", {}, "Error over time"), curve),
    element("div", { class: "panel" }, element("h3", {}, "Weights over time"), weights, note));
  const once = element("p", { class: "none", hidden: "" }, "Measured once, at the end: there are no curves.");
  home.append(controls, facts);
  const showPath = shown.some((row) => row.names) ? pathPlace(home) : () => {};
  home.append(overTime, once);

  const filters = [
    ["Task", (row) => report.sections[row.section].title],
    ["Unit", (row) => row.label],
    ["Operation", (row) => row.op],
    ["Range", (row) => row.range],
  ].slice(report.sections.length > 1 ? 0 : 1);

  // Each choice is among the rows that match the choices before it.
  function candidates(depth) {
    return shown.filter((row) => filters.slice(0, depth).every(([, of]) => of(row) === of(state.row)));
  }

  function choose(depth, value) {
    const able = candidates(depth).filter((row) => filters[depth][1](row) === value);
    // Keep as many of the following choices as possible.
    const alike = (row) => filters.slice(depth + 1).filter(([, of]) => of(row) === of(state.row)).length;
    state.row = able.reduce((best, row) => (alike(row) > alike(best) ? row : best));
    update();
  }

  // An operation whose formula is to be found, with that formula.
  function targetOf(op) {
    const row = shown.find((each) => each.section === state.row.section && each.op === op);
    return row?.names ? `${op}: ${row.target}` : op;
  }

  async function update() {
    const packed = await loadRuns();
    const runs = packed.runs.filter((run) => run.row === state.row.index);
    const run = runs.find((each) => each.seed === state.seed) ?? runs[0];
    state.seed = run.seed;
    const focused = [...controls.children].findIndex((child) => child.contains(document.activeElement));
    controls.replaceChildren(
      ...filters.map(([label, of], depth) => {
        const values = [...new Set(candidates(depth).map(of))];
        return choice(label, values.map((value) => ({ value, text: label === "Operation" ? targetOf(value) : value })), of(state.row), (value) => choose(depth, value));
      }),
      choice("Seed", runs.map((each) => ({ value: each.seed, text: `${each.seed}: ${words(packed.header.outcomes[packed.header.outcome[each.k]])}` })), run.seed, (seed) => {
        state.seed = seed;
        update();
      }));
    if (focused >= 0) controls.children[focused].querySelector("select").focus();
    const found = runDetails(packed, run);
    facts.replaceChildren(
      element("p", {}, element("b", {}, words(found.outcome)), ". ", report.advice[found.outcome] ?? ""),
      element("p", { class: "formula" }, element("code", {}, found.outcome === "diverged" ? "diverged: there is no formula" : (found.formula ?? "This model cannot be read as a formula."))),
      element("dl", {}, ...Object.entries({
        ...(state.row.names ? pathFacts(state.row, found) : {}),
        "chosen step": found.steps[found.chosen].toLocaleString("en"),
        "validation error": short(found.validation[found.chosen]),
        "test error": `${short(found.test[found.chosen])} (threshold ${short(found.threshold)})`,
        "solved at": short(found.solvedAt),
        "sparsity error": short(found.sparsity),
      }).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])));
    showPath(state.row, found);
    const wasHidden = overTime.hidden;
    once.hidden = !(overTime.hidden = found.steps.length === 1);
    note.textContent = weightNote(found);
    await Promise.all([redraw(curve, () => curvePlot(found)), redraw(weights, () => weightPlot(found))]);
    if (wasHidden && !overTime.hidden) await resized(curve, weights);
    home.dataset.shown = `${state.row.index}/${run.seed}`;
  }

  // Escape returns to where a run was opened.
  home.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !state.from?.isConnected) return;
    state.from.focus();
    state.from = null;
  });

  report.showRun = (row) => {
    Object.assign(state, { row, seed: null, from: document.activeElement });
    update();
    home.scrollIntoView();
    const title = document.getElementById("run-title");
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
  };
  const start = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    start.disconnect();
    update();
  }, { rootMargin: "600px" });
  start.observe(home);
}

function weightNote(run) {
  if (!run.weights.length) return "Weights over time are kept since nalm 0.5, for models of up to 512 parameters.";
  if (run.weights.length < run.allWeights) return `The ${run.weights.length} largest of ${run.allWeights} weights.`;
  return "";
}

function curvePlot(run) {
  const layout = baseLayout({ title: { text: "step" }, tickformat: "~s", showgrid: false }, powers([...run.validation, ...run.test, run.threshold].map((value) => value && Math.max(value, 1e-30)), 1e-30));
  const chosen = run.steps[run.chosen];
  layout.legend = { orientation: "h", y: 1.12 };
  layout.showlegend = true;
  layout.shapes = [{ type: "line", x0: chosen, x1: chosen, y0: 0, y1: 1, yref: "paper", line: { color: css("--soft"), width: 1, dash: "dot" } }];
  const line = (name, y, index, dash) => ({
    type: "scatter", mode: "lines", name, x: run.steps, y: y.map((value) => (value === null ? null : Math.max(value, 1e-30))),
    line: { color: colourOf(index), dash, width: 2 }, hovertemplate: `${name} %{y:.2e} at step %{x}<extra></extra>`,
  });
  const traces = [line("validation", run.validation, 0, "solid"), line("test", run.test, 1, "dash")];
  if (run.threshold > 0) {
    traces.push({ type: "scatter", mode: "lines", name: "threshold", x: [run.steps[0], run.steps.at(-1)], y: [run.threshold, run.threshold], line: { color: css("--soft"), width: 1.5, dash: "longdash" }, hovertemplate: "threshold %{y:.2e}<extra></extra>" });
  }
  if (!run.validation.some((value) => value !== null)) say(layout, "no finite error");
  return { traces, layout };
}

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];

function weightPlot(run) {
  const layout = baseLayout({ title: { text: "step" }, tickformat: "~s", showgrid: false }, {});
  layout.showlegend = run.weights.length <= 8;
  layout.legend = { orientation: "h", y: 1.12 };
  const traces = run.weights.map((weight, k) => ({
    type: "scatter", mode: "lines", name: plain(weight.name), x: run.points, y: weight.values,
    line: { color: colourOf(k), dash: DASHES[k % DASHES.length], width: 2 },
    hovertemplate: `${plain(weight.name)} = %{y:.4g} at step %{x}<extra></extra>`,
  }));
  const finite = run.weights.some((weight) => weight.values.some((value) => value !== null));
  if (!finite) {
    say(layout, run.weights.length ? "no finite weight" : "not kept");
    layout.showlegend = layout.xaxis.visible = layout.yaxis.visible = false;
  }
  return { traces, layout };
}
