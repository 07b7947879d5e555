// A task: success by unit and range as dots with intervals, one row per unit, the best on top; what papers publish beside it.

const LEAST = 1e-9; // smaller errors, including zero, are drawn here
const MEASURES = [
  { name: "success", value: "rate", title: "Success rate", form: rate, scale: () => ({ low: 0, high: 1, ticks: [[0, "0"], [0.5, ""], [1, "1"]] }) },
  { name: "solved_at", value: "mean", title: "Solved at step", form: compact, scale: (values) => upTo(Math.max(1, ...values)) },
  { name: "sparsity", value: "mean", title: "Sparsity error", form: (value) => (value <= LEAST ? "≤1e-9" : short(value)), scale: decades, place: (value) => Math.log10(Math.max(value, LEAST)) },
];
const MOST_BUTTONS = 24; // more operations are in a list
const MOST_ROWS = 12; // more units are shown when asked for
const STRIP = { width: 60, height: 26, side: 5, ours: 8, theirs: 19 };

function compact(value) {
  return value < 1000 ? short(value) : `${Number((value / 1000).toPrecision(3))}k`;
}

function upTo(high) {
  return { low: 0, high, ticks: [[0, "0"], [high, compact(high)]] };
}

function decades(values) {
  const powers = values.map((value) => Math.log10(Math.max(value, LEAST)));
  const low = Math.floor(Math.min(0, ...powers)), high = Math.max(low + 1, Math.ceil(Math.max(...powers, low + 1)));
  return { low, high, ticks: [[low, `1e${low}`], [high, `1e${high}`]] };
}

function buildTask(section, report) {
  const rows = report.rows.filter((row) => row.section === section.index);
  const state = { op: section.ops[0], budget: null, measure: MEASURES[0], all: false, variants: false };
  const home = document.getElementById(section.id);
  const controls = element("div");
  const chart = element("div", { class: "scroll" });
  const more = element("div", { class: "controls" });
  const told = element("div", { class: "told controls" });
  const note = element("p", { class: "none" });
  home.append(controls, chart, more, told, note);

  // Only equal budgets are compared: at first the budget with the most lines is shown.
  const everyBudget = "all";
  const ofOp = () => rows.filter((row) => row.op === state.op);
  const budgets = () => section.budgets.filter((budget) => ofOp().some((row) => row.budget === budget));
  const lines = (budget) => ofOp().filter((row) => row.budget === budget && !row.hidden).length;
  const isShown = (budget) => state.budget === everyBudget || budget === state.budget;
  const published = () => report.published.filter((each) => each.section === section.index && each.op === state.op && each.budget === state.budget);

  // Units in their order, each with its rows by range and what papers publish for the same unit.
  function units() {
    const mine = report.standings.filter((each) => each.section === section.index && each.op === state.op && isShown(each.budget));
    return mine.flatMap(({ units: standing, budget }) => standing.map((unit) => {
      const found = ofOp().filter((row) => row.budget === budget && row.label === unit.label);
      const papers = found[0].variant ? [] : published().filter((each) => each.model === found[0].model);
      return { ...unit, leads: unit.leads && state.budget !== everyBudget, variant: found[0].hidden, rows: new Map(found.map((row) => [row.range, row])), papers };
    }));
  }

  // What papers publish for units that the store has no runs of.
  function onlyPublished(drawn) {
    const had = new Set(drawn.flatMap((unit) => unit.papers.map((each) => each.model)));
    const rest = published().filter((each) => !had.has(each.model));
    return [...new Set(rest.map((each) => each.model))].map((model) => {
      const papers = rest.filter((each) => each.model === model);
      return { label: papers[0].label, paper: paperOf(papers[0]), rows: new Map(), papers, leads: false };
    });
  }

  function update() {
    const every = units();
    const able = every.filter((unit) => state.variants || !unit.variant);
    const drawn = state.all ? able : able.slice(0, MOST_ROWS);
    const extra = state.measure.name === "success" ? onlyPublished(every) : [];
    const table = dotTable(section, state.measure, drawn, extra);
    chart.replaceChildren(table);
    const rowOf = (cell) => drawn[cell.parentElement.rowIndex - 1]?.rows.get(cell.dataset.range);
    makeGrid(table, `${state.measure.title} by unit and range: ${section.title}, ${state.op}`, {
      moved: (cell) => tell(cell, rowOf(cell)),
      Enter: (cell) => open(rowOf(cell)),
    }).refresh();
    tell(null);
    more.replaceChildren(
      ...toggle(able.length > MOST_ROWS, "all", `Show all ${able.length} units`, `Show the best ${MOST_ROWS} units`),
      ...toggle(every.some((unit) => unit.variant), "variants", showVariants(every.filter((unit) => unit.variant).length), "Hide variants"));
    note.textContent = [legend(drawn, extra), publishedNote()].filter(Boolean).join(" ");
  }

  function toggle(needed, name, show, hide) {
    if (!needed) return [];
    return [element("button", { type: "button", "aria-expanded": String(state[name]), onclick: () => {
      state[name] = !state[name];
      update();
      more.querySelector("button").focus({ preventScroll: true });
    } }, state[name] ? hide : show)];
  }

  function open(row) {
    if (row?.detailed) report.showRun(row);
  }

  // The numbers of the current cell in words, for those who see it: a screen reader has them from the cell.
  function tell(cell, row) {
    const said = cell?.title || "Point at a dot or move with the arrow keys to read its numbers; Enter shows its runs.";
    told.replaceChildren(element("span", { "aria-hidden": "true" }, said), ...(row?.detailed ? [element("button", { type: "button", onclick: () => open(row) }, "Show its runs")] : []));
  }

  function legend(drawn, extra) {
    const said = ["● ours with its 95 % interval."];
    if (extra.length || drawn.some((unit) => unit.papers.length)) said.push(`◇ and italics: what papers publish for the same data and ${state.budget}. Counted as solved: ${[...new Set(published().map((each) => each.threshold))].join("; ")}.`);
    if (drawn.some((unit) => unit.leads)) said.push("Bold: the best unit, and those that an exact test does not tell apart from it.");
    return said.join(" ");
  }

  // If papers have rates for these data but for another number of steps, say so: they are not comparable.
  function publishedNote() {
    const found = report.published.filter((each) => each.section === section.index && each.op === state.op);
    if (!found.length || published().length) return "";
    const others = [...new Set(found.map((each) => each.budget))].join(", ");
    return `Papers publish rates for these data with ${others}; they are shown only next to rows with the same steps.`;
  }

  function chooseBudget() {
    const able = budgets();
    if (!able.includes(state.budget) && !(state.budget === everyBudget && able.length > 1)) {
      state.budget = able.reduce((best, budget) => (lines(budget) > lines(best) ? budget : best));
    }
    if (able.length === 1) return element("p", { class: "none" }, able[0]);
    return oneOf("Steps", [...able, everyBudget], state.budget, (name) => (state.budget = name));
  }

  // Buttons of which one is pressed.
  function oneOf(label, names, chosen, act) {
    const group = buttons(label, names, (name) => name === chosen, (name, pressed) => {
      act(name);
      for (const b of group.children) b.setAttribute("aria-pressed", String(b === pressed));
      update();
    });
    return group;
  }

  // The formula that is to be found, where the task is about one.
  function target() {
    const row = rows.find((each) => each.op === state.op && each.names);
    return row ? [element("p", {}, "Target: ", element("code", {}, row.target))] : [];
  }

  const measures = oneOf("Measure", MEASURES.map((each) => each.title), state.measure.title, (title) => (state.measure = MEASURES.find((each) => each.title === title)));
  const arrange = () => controls.replaceChildren(choose, ...target(), chooseBudget(), measures);
  const chosen = (op) => {
    state.op = op;
    const focused = document.activeElement;
    arrange();
    focused.focus({ preventScroll: true });
  };
  const choose = section.ops.length > MOST_BUTTONS
    ? element("div", { class: "controls" }, choice("Operation", section.ops.map((op) => ({ value: op, text: op })), state.op, (op) => (chosen(op), update())))
    : oneOf("Operation", section.ops, state.op, chosen);
  arrange();
  update();
}

const showVariants = (count) => `Show ${count} variant${count === 1 ? "" : "s"}`;
const paperOf = (published) => published.entry.split(":")[0];

function dotTable(section, measure, units, extra) {
  const all = measure.name === "success" && section.ranges.length > 1;
  const values = units.flatMap((unit) => [...unit.rows.values()]).flatMap((row) => [row[measure.name][measure.value], row[measure.name].high]).filter((value) => value !== null && value !== undefined);
  const scale = measure.scale(values);
  const head = (text) => element("th", { scope: "col" }, text, values.length || extra.length ? axis(scale) : null);
  const line = (unit) => element("tr", { class: unit.leads ? "leads" : null },
    element("th", { scope: "row" }, unit.paper ? element("i", {}, unit.label) : unit.label, unit.paper ? element("small", {}, unit.paper) : null, unit.partial ? element("small", {}, unit.partial) : null),
    all ? pooledCell(unit, scale) : null,
    ...section.ranges.map((range) => rangeCell(unit, range, measure, scale)));
  const said = units.length + extra.length && !values.length && !extra.length ? [element("tr", {}, element("td", { colspan: section.ranges.length + 1, class: "none" }, units.some((unit) => [...unit.rows.values()].some((row) => row.outcomes.solved)) ? "no weights to read" : "no run was solved"))] : null;
  return element("table", { class: "dots" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "unit"), all ? head("all ranges") : null, ...section.ranges.map(head))),
    element("tbody", {}, ...(said ?? units.map(line))),
    extra.length ? element("tbody", { class: "published" }, ...extra.map(line)) : null);
}

function pooledCell(unit, scale) {
  if (!unit.success) return element("td", { class: "none" }, "–");
  const text = `${unit.label}, all ranges: success ${withInterval(unit.success.rate, unit.success.low, unit.success.high, rate)} of ${unit.runs} runs${unit.partial ? `, ${unit.partial}` : ""}`;
  return dotCell(text, MEASURES[0], scale, unit.success, null, {});
}

function rangeCell(unit, range, measure, scale) {
  const row = unit.rows.get(range);
  const paper = measure.name === "success" ? unit.papers.find((each) => each.range === range) : null;
  if (!paper && (!row || row[measure.name][measure.value] === null)) return element("td", { class: "none", "data-range": range, title: row ? rowText(row) : null }, "–");
  const said = [row ? rowText(row) : `${unit.label}, ${range}`, paper ? `published ${withInterval(paper.success.rate, paper.success.low, paper.success.high, rate)} of ${paper.n ?? "?"} seeds (${paper.source})` : null];
  return dotCell(said.filter(Boolean).join("; "), measure, scale, row?.[measure.name], paper?.success, { "data-range": range });
}

function rowText(row) {
  const { success, solved_at: solved, sparsity } = row;
  return `${row.label}, ${row.op}, ${row.range}: success ${withInterval(success.rate, success.low, success.high, rate)} of ${row.runs} runs, ${row.budget}; solved at ${withInterval(solved.mean, solved.low, solved.high)}; sparsity error ${withInterval(sparsity.mean, sparsity.low, sparsity.high)}`;
}

// Ours above, the paper's below: marks of one cell never cover each other, and those of two rows cannot.
function dotCell(text, measure, scale, ours, theirs, more) {
  const across = along(measure, scale);
  const number = (found, tag) => (found ? element(tag, {}, measure.form(found[measure.value])) : null);
  return element("td", { ...more, title: text, "aria-label": text }, element("div", { class: "cell", "aria-hidden": "true" },
    shape("svg", { class: "strip", viewBox: `0 0 ${STRIP.width} ${STRIP.height}` },
      ...scale.ticks.map(([value]) => shape("path", { class: "grid", d: `M${place(scale, value)} 0V${STRIP.height}` })),
      ...mark(ours, measure, across, STRIP.ours, (x, y) => shape("circle", { class: "dot", cx: x, cy: y, r: 4 })),
      ...mark(theirs, measure, across, STRIP.theirs, (x, y) => shape("path", { class: "paper", d: `M${x} ${y - 4.5}L${x + 4.5} ${y}L${x} ${y + 4.5}L${x - 4.5} ${y}Z` }))),
    element("span", { class: "numbers" }, number(ours, "span"), number(theirs, "i"))));
}

const place = (scale, value) => STRIP.side + (STRIP.width - 2 * STRIP.side) * Math.max(0, Math.min(1, (value - scale.low) / (scale.high - scale.low)));
const along = (measure, scale) => (value) => place(scale, measure.place ? measure.place(value) : value);

function mark(found, measure, across, y, draw) {
  if (!found) return [];
  const { low, high } = found;
  const bar = low === null || low === undefined ? [] : [shape("path", { class: "bar", d: `M${across(low)} ${y}H${across(high)}` })];
  return [...bar, draw(across(found[measure.value]), y)];
}

function axis(scale) {
  const text = ([value, said], k, all) => shape("text", { x: place(scale, value), y: 9, "text-anchor": k === 0 ? "start" : k === all.length - 1 ? "end" : "middle" }, said);
  return shape("svg", { class: "axis", viewBox: `0 0 ${STRIP.width} 11`, "aria-hidden": "true" }, ...scale.ticks.map(text));
}
