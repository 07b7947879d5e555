// A task: the papers' three panels and a heat map of one operation, with units that can be hidden.

const LEAST = 1e-9; // smaller errors, including zero, are drawn here
const METRICS = [
  { name: "success", value: "rate", title: "Success rate", y: () => ({ range: [-0.05, 1.05] }) },
  // A wide interval must not flatten all the others: the axis ends not far above the highest mean.
  { name: "solved_at", value: "mean", title: "Solved at step", y: (ends, means) => ({ range: [0, Math.min(Math.max(...ends), 1.25 * Math.max(...means)) * 1.05], ...stepTicks(Math.max(...means)) }) },
  { name: "sparsity", value: "mean", title: "Sparsity error", y: (values) => powers(values, LEAST), logarithmic: true },
];

// Steps are whole numbers: a search has a single one.
const stepTicks = (most) => (most < 5 ? { dtick: 1 } : { tickformat: "~s" });
const MOST_BUTTONS = 24; // more operations are in a list

function buildTask(section, report) {
  const rows = report.rows.filter((row) => row.section === section.index);
  // A variant is hidden if the page has the plain model for the same operation and budget.
  const key = (row) => `${row.op} ${row.label}`;
  const state = { op: section.ops[0], budget: null, hidden: new Set(rows.filter((row) => row.hidden).map(key)) };
  const home = document.getElementById(section.id);
  const controls = element("div");
  const panels = element("div", { class: "panels" });
  const heat = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Success by unit and range: ${section.title}` });
  const divs = METRICS.map((metric) => {
    const div = plot(`${metric.title}, ${section.title}`, () => panel(metric, section, shown(), report));
    panels.append(element("div", { class: "panel" }, element("h3", {}, metric.title), div));
    return div;
  });
  const note = element("p", { class: "none" });
  home.append(controls, panels, element("h3", {}, "Success by unit and range"), heat, note);

  // Only equal budgets are compared: at first the budget with the most lines is shown.
  const everyBudget = "all";
  const budgets = () => section.budgets.filter((budget) => rows.some((row) => row.op === state.op && row.budget === budget));
  const lines = (budget) => rows.filter((row) => row.op === state.op && row.budget === budget && !row.hidden).length;
  const ofOp = () => rows.filter((row) => row.op === state.op && (state.budget === everyBudget || row.budget === state.budget));
  const shown = () => ofOp().filter((row) => !state.hidden.has(key(row)));

  function update() {
    divs.forEach((div) => redraw(div));
    heat.replaceChildren(heatMap(section, shown(), published()));
    note.textContent = publishedNote();
  }

  function published() {
    return report.published.filter((rate) => rate.section === section.index && rate.op === state.op && rate.budget === state.budget);
  }

  // If papers have rates for these data but for another number of steps, say so: they are not comparable.
  function publishedNote() {
    const found = report.published.filter((rate) => rate.section === section.index && rate.op === state.op);
    if (!found.length) return "";
    const like = published();
    if (like.length) return `In italics: what papers publish for the same data and ${state.budget}. Counted as solved: ${[...new Set(like.map((rate) => rate.threshold))].join("; ")}.`;
    const others = [...new Set(found.map((rate) => rate.budget))].join(", ");
    return `Papers publish rates for these data with ${others}; they are shown only next to rows with the same steps.`;
  }

  function chooseBudget() {
    const able = budgets();
    if (!able.includes(state.budget) && !(state.budget === everyBudget && able.length > 1)) {
      state.budget = able.reduce((best, budget) => (lines(budget) > lines(best) ? budget : best));
    }
    if (able.length === 1) return element("p", { class: "none" }, able[0]);
    const group = buttons("Steps", [...able, everyBudget], (name) => name === state.budget, (name, pressed) => {
      state.budget = name;
      for (const b of group.children) b.setAttribute("aria-pressed", String(b === pressed));
      controls.lastChild.replaceWith(toggles());
      update();
    });
    return group;
  }

  // The formula that is to be found, where the task is about one.
  function target() {
    const row = rows.find((each) => each.op === state.op && each.names);
    return row ? [element("p", {}, "Target: ", element("code", {}, row.target))] : [];
  }

  function toggles() {
    const labels = report.labels.filter((label) => ofOp().some((row) => row.label === label));
    const group = element("div", { class: "controls units", role: "group", "aria-label": "Units shown" });
    const keyOf = (label) => `${state.op} ${label}`;
    const all = (hide) => () => {
      labels.forEach((label) => (hide ? state.hidden.add(keyOf(label)) : state.hidden.delete(keyOf(label))));
      for (const b of group.querySelectorAll("[aria-pressed]")) b.setAttribute("aria-pressed", String(!hide));
      update();
    };
    for (const label of labels) {
      const button = element("button", {
        type: "button", "aria-pressed": String(!state.hidden.has(keyOf(label))), title: "Show or hide",
        onclick: () => {
          if (!state.hidden.delete(keyOf(label))) state.hidden.add(keyOf(label));
          button.setAttribute("aria-pressed", String(!state.hidden.has(keyOf(label))));
          update();
        },
      }, swatch(report.labels.indexOf(label)), label);
      group.append(button);
    }
    if (labels.length > 1) {
      group.append(element("button", { type: "button", onclick: all(false) }, "show all"));
      group.append(element("button", { type: "button", onclick: all(true) }, "hide all"));
    }
    return group;
  }

  const chosen = (op, pressed) => {
    state.op = op;
    if (pressed) for (const b of choose.children) b.setAttribute("aria-pressed", String(b === pressed));
    controls.replaceChildren(choose, ...target(), chooseBudget(), toggles());
    (pressed ?? choose.querySelector("select")).focus({ preventScroll: true });
    update();
  };
  const choose = section.ops.length > MOST_BUTTONS
    ? element("div", { class: "controls" }, choice("Operation", section.ops.map((op) => ({ value: op, text: op })), state.op, (op) => chosen(op)))
    : buttons("Operation", section.ops, (op) => op === state.op, chosen);
  controls.replaceChildren(choose, ...target(), chooseBudget(), toggles());
  update();
}

function panel(metric, section, rows, report) {
  const labels = report.labels.filter((label) => rows.some((row) => row.label === label));
  const drawn = (value) => (metric.logarithmic ? Math.max(value, LEAST) : value);
  const of = (row, bound) => drawn(row[metric.name][bound] ?? row[metric.name][metric.value]);
  const known = rows.filter((row) => row[metric.name][metric.value] !== null);
  const layout = baseLayout({
    tickvals: section.ranges.map((_, k) => k), ticktext: section.ranges.map(plain), tickangle: -45,
    range: [-0.5, section.ranges.length - 0.5], showgrid: false,
  }, metric.y(known.flatMap((row) => ["low", metric.value, "high"].map((bound) => of(row, bound))), known.map((row) => of(row, metric.value))));
  layout.shapes = section.ranges.slice(1).map((_, k) => ({
    type: "line", x0: k + 0.5, x1: k + 0.5, y0: 0, y1: 1, yref: "paper", layer: "below", line: { color: css("--line"), width: 1 },
  }));
  const traces = labels.map((label, place) => {
    const found = known.filter((row) => row.label === label);
    const middle = found.map((row) => of(row, metric.value));
    const index = report.labels.indexOf(label);
    return {
      type: "scatter", mode: "markers", name: plain(label),
      x: found.map((row) => section.ranges.indexOf(row.range) + 0.8 * ((place + 0.5) / labels.length - 0.5)),
      y: middle,
      error_y: {
        type: "data", symmetric: false, thickness: 1.2, width: 2,
        array: found.map((row, k) => Math.max(0, of(row, "high") - middle[k])),
        arrayminus: found.map((row, k) => Math.max(0, middle[k] - of(row, "low"))),
      },
      marker: { color: colourOf(index), symbol: symbolOf(index), size: 7.5 },
      text: found.map((row) => hoverText(row)),
      hovertemplate: "%{text}<extra></extra>",
    };
  });
  if (!rows.length) say(layout, "all units are hidden");
  else if (!known.length) {
    say(layout, metric.name === "sparsity" && rows.some((row) => row.outcomes.solved) ? "no weights to read" : "no run was solved");
    Object.assign(layout.yaxis, { type: "linear", range: [0, 1], showticklabels: false, showgrid: false });
  }
  return { traces, layout };
}

function hoverText(row) {
  const { success, solved_at: solved, sparsity } = row;
  return [
    `<b>${plain(row.label)}</b>, ${plain(row.op)}, ${plain(row.range)}`,
    `success ${withInterval(success.rate, success.low, success.high, rate)} of ${row.runs} runs, ${plain(row.budget)}`,
    `solved at ${withInterval(solved.mean, solved.low, solved.high)}`,
    `sparsity error ${withInterval(sparsity.mean, sparsity.low, sparsity.high)}`,
  ].join("<br>");
}

// Cividis, which colour-blind people see almost the same: dark blue for never, yellow for always.
const CIVIDIS = [[0, 32, 77], [66, 78, 107], [124, 123, 120], [186, 174, 108], [255, 234, 70]];

function heatColour(value) {
  const at = Math.min(value, 0.9999) * (CIVIDIS.length - 1);
  const low = CIVIDIS[Math.floor(at)], high = CIVIDIS[Math.floor(at) + 1];
  return `rgb(${low.map((part, k) => Math.round(part + (high[k] - part) * (at % 1))).join(",")})`;
}

function heatMap(section, rows, published) {
  const head = element("tr", {}, element("th", { scope: "col" }, "unit"), ...section.ranges.map((range) => element("th", { scope: "col" }, range)));
  const line = (title, cellOf) => element("tr", {}, element("th", { scope: "row" }, ...title), ...section.ranges.map((range) => cellOf(range) ?? element("td", { class: "none" }, "–")));
  const cell = (success, title, tag = (text) => text) => element("td", {
    style: `background:${heatColour(success.rate)};color:${success.rate > 0.47 ? "#000" : "#fff"}`,
    title: `${title}: ${withInterval(success.rate, success.low, success.high, rate)}`,
  }, tag(rate(success.rate)));
  const labels = [...new Set(rows.map((row) => row.label))];
  const body = labels.map((label) => line([label], (range) => {
    const row = rows.find((each) => each.label === label && each.range === range);
    return row && cell(row.success, `${label}, ${row.op}, ${range}, ${row.runs} runs`);
  }));
  const paper = (each) => each.entry.split(":")[0];
  const named = (each) => `${each.model} ${paper(each)}`;
  const theirs = [...new Map(published.map((each) => [named(each), each])).values()].map((first) => line(
    [element("i", {}, first.label), element("small", {}, paper(first))],
    (range) => {
      const found = published.find((each) => named(each) === named(first) && each.range === range);
      return found && cell(found.success, `${found.label} as published, ${found.source}, ${found.n ?? "?"} seeds`, (text) => element("i", {}, text));
    }));
  if (!labels.length) return element("p", { class: "none" }, "All units are hidden.");
  return element("table", { class: "heat" }, element("thead", {}, head), element("tbody", {}, ...body), element("tbody", { class: "published" }, ...theirs));
}
