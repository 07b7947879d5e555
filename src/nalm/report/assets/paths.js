// The path of a run: inputs on the left, one box per step, each lower and further right than the one before.
// So what a step writes can run straight down from its box to those that read it, and no edge crosses a box.

const CHARACTER = 7.3, LINE = 16, PORT = 20, GAP = 24, MOST_LINES = 4;
const DROP = 10; // what a box writes leaves it this far from its left edge
const NARROWEST = 112, USUAL = 170, WIDEST = 290, LEAST_SHIFT = 24, LANE = 8;
const UNIT_COLOURS = { nau: 0, add: 0, sub: 0, nmu: 1, snmu: 1, mul: 1, nru: 2, nmru: 2, realnpu: 2, npu: 2, div: 2 };

// One run's path in the form of the page's data, see page_paths.py: [step, unit, reads, writes, expression, result].
function pathSteps(path) {
  const steps = path.map(([number, unit, reads, writes, expression, result]) => (
    { number, unit: unit || "mixed", reads, writes, expression, result: result || expression, used: false }));
  const need = (step) => {
    if (!step || step.used) return;
    step.used = true;
    step.reads.forEach((read) => need(steps[read]));
  };
  need(steps.at(-1));
  const kind = steps.some((step) => /^o\d+$/.test(step.writes)) ? "layer" : "step";
  return steps.map((step) => ({ ...step, kind, names: step.reads.map((read) => steps[read]?.writes ?? read) }));
}

function stepInWords(step) {
  const unit = step.unit === "mixed" ? "a mix of units (its gate is neither open nor closed)" : step.unit;
  const reads = step.names.length ? `reads ${step.names.join(", ")} and` : "reads nothing and";
  const last = step.result === step.expression ? "" : `, which is ${step.result}`;
  return `${step.kind} ${step.number}: ${unit} ${reads} writes ${step.writes} = ${step.expression}${last}${step.used ? "" : "; y does not use it"}.`;
}

// Text in lines of so many characters, broken at spaces and after * where there are some; too many lines are cut.
function wrapped(text, width) {
  const lines = [];
  let rest = text;
  while (rest.length > width && lines.length < MOST_LINES - 1) {
    const ends = [...rest.slice(0, width + 1).matchAll(/ |\*(?!\*)/g)].map((end) => end.index + (end[0] === "*" ? 1 : 0));
    const last = ends.filter((end) => end <= width).at(-1) ?? 0;
    const at = last > width / 3 ? last : width;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest.length > width ? `${rest.slice(0, width - 1)}…` : rest];
}

// Where everything is, for a drawing of at most this width if that is possible.
function pathLayout(steps, width) {
  const inputs = new Map(); // by name: the steps that read it
  for (const step of steps) for (const read of step.reads) if (typeof read === "string") inputs.set(read, [...(inputs.get(read) ?? []), step]);
  const label = 16 + CHARACTER * Math.max(1, ...[...inputs.keys()].map((name) => name.length));
  const lanes = [...inputs].filter(([, readers]) => readers.length > 1).map(([name]) => name);
  const left = (inputs.size ? label + 2 : 0) + LANE * lanes.length + 20, right = 52;
  const room = width - left - right - 4;
  const texts = steps.map((step) => `${step.writes} = ${step.expression}`);
  const titles = steps.map((step) => `${step.unit} ${step.kind} ${step.number}`.length + 3);
  const wish = 24 + CHARACTER * Math.max(...texts.map((text) => text.length), ...titles);
  const between = steps.length - 1;
  const box = Math.max(NARROWEST, Math.min(Math.max(wish, USUAL), WIDEST, room - LEAST_SHIFT * between));
  const shift = between ? Math.max(LEAST_SHIFT, Math.min(0.7 * box, (room - box) / between)) : 0;
  let y = 4;
  const boxes = steps.map((step, k) => {
    const lines = wrapped(texts[k], Math.floor((box - 20) / CHARACTER));
    // Latest lines first, then inputs: so that fewest edges cross.
    const reads = [...step.reads].sort((a, b) => (typeof a === "number" && typeof b === "number" ? b - a : typeof a === "number" ? -1 : typeof b === "number" ? 1 : 0));
    const height = Math.max(32 + LINE * lines.length, 10 + PORT * reads.length);
    const made = { step, x: left + k * shift, y, width: box, height, lines, ports: new Map() };
    reads.forEach((read, i) => made.ports.set(read, y + height / 2 + PORT * (i - (reads.length - 1) / 2)));
    y += height + GAP;
    return made;
  });
  const sources = [...inputs].map(([name, readers]) => {
    const at = readers.map((reader) => boxes[steps.indexOf(reader)]);
    return { name, x: label, y: at[0].ports.get(name), lane: label + 10 + LANE * lanes.indexOf(name), readers: at, used: readers.some((reader) => reader.used) };
  });
  return { boxes, sources, label, width: left + between * shift + box + right, height: y - GAP + 4 };
}

// An edge from a vertical line at x to the boxes that read it, with a dot where it branches.
function branches(from, x, readers, key) {
  const made = [];
  readers.forEach((box, k) => {
    const y = box.ports.get(key);
    const kind = box.step.used ? "edge" : "edge unused";
    made.push(shape("path", { class: kind, d: `M${from} V${y} H${box.x - 2}`, "marker-end": "url(#path-arrow)" }));
    if (k < readers.length - 1) made.push(shape("circle", { class: "dot", cx: x, cy: y, r: 2.5 }));
  });
  return made;
}

function pathDrawing(steps, width) {
  const { boxes, sources, label, width: wide, height } = pathLayout(steps, width);
  const svg = shape("svg", { class: "path", width: wide, height, viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": steps.map(stepInWords).join(" ") });
  svg.append(shape("defs", {}, shape("marker", { id: "path-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, shape("path", { d: "M0 0L8 4 0 8Z" }))));
  for (const source of sources) {
    const { name, x, y, readers } = source;
    const through = readers.length > 1 ? `${x},${y} H${source.lane}` : `${x},${y}`;
    svg.append(...branches(through, source.lane, readers, name));
    svg.append(shape("g", { class: source.used ? "end" : "end unused" },
      shape("rect", { x: 1, y: y - 8, width: label - 2, height: 16, rx: 8 }),
      shape("text", { x: label / 2, y: y + 4, "text-anchor": "middle" }, name)));
  }
  boxes.forEach((box, k) => {
    const { step, x, y } = box;
    const readers = boxes.filter((other) => other.ports.has(k));
    const below = y + box.height;
    svg.append(...branches(`${x + DROP},${below}`, x + DROP, readers, k));
    if (step.writes === "y") {
      const end = x + box.width, middle = y + box.height / 2;
      svg.append(shape("path", { class: "edge", d: `M${end},${middle} H${end + 20}`, "marker-end": "url(#path-arrow)" }),
        shape("g", { class: "end result" }, shape("rect", { x: end + 22, y: middle - 11, width: 26, height: 22, rx: 11 }), shape("text", { x: end + 35, y: middle + 4, "text-anchor": "middle" }, "y")));
    } else {
      svg.append(shape("text", { class: "label", x: x + DROP + (readers.length ? 6 : -8), y: below + 16 }, step.used ? step.writes : `${step.writes}: not used`));
    }
    svg.append(stepBox(box));
  });
  return svg;
}

function stepBox({ step, x, y, width, height, lines }) {
  const number = `${step.kind} ${step.number}`, most = Math.floor((width - 36) / CHARACTER);
  const unit = step.unit.length > most ? `${step.unit.slice(0, most - 1)}…` : step.unit;
  const fits = CHARACTER * (unit.length + number.length) + 26 <= width;
  const colour = step.unit in UNIT_COLOURS ? `var(--u${UNIT_COLOURS[step.unit]})` : "var(--u6)";
  return shape("g", { class: step.used ? "step" : "step unused" },
    shape("title", {}, stepInWords(step)),
    shape("rect", { x, y, width, height, rx: 6 }),
    shape("rect", { class: "bar", x: x + 1, y: y + 6, width: 4, height: height - 12, rx: 2, style: `fill:${colour}` }),
    shape("text", { class: "unit", x: x + 12, y: y + 18 }, unit),
    shape("text", { class: "number", x: x + width - 8, y: y + 18, "text-anchor": "end" }, fits ? number : step.number),
    ...lines.map((line, k) => shape("text", { class: "expression", x: x + 12, y: y + 36 + LINE * k }, line)));
}

// What is said of a run of a task with formulas, before its errors.
function pathFacts(row, run) {
  const verdict = run.equal === null ? "cannot be read" : run.equal ? "yes" : "no";
  return { target: element("code", {}, row.target), "equal to the target": element("b", { class: run.equal === null ? "none" : run.equal ? "agrees" : "differs" }, verdict) };
}

// A place for drawings, each as wide as there is room: returns what shows the path of a run.
function pathPlace(home) {
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Path of the run" });
  const words = element("ol", { class: "path-words" });
  const note = element("p", { class: "none" });
  const details = element("details", {}, element("summary", {}, "The path in words"), words);
  const whole = element("div", { id: "run-path", hidden: "" }, element("h3", {}, "Path"), scroll, note, details);
  home.append(whole);
  let steps = [], drawn = 0;
  const redraw = () => {
    drawn = scroll.clientWidth;
    scroll.replaceChildren(...(steps.length ? [pathDrawing(steps, drawn)] : []));
  };
  new ResizeObserver(() => scroll.clientWidth !== drawn && redraw()).observe(scroll);
  return (row, run) => {
    whole.hidden = row.names === undefined;
    if (whole.hidden) return;
    steps = run.path ? pathSteps(run.path) : [];
    scroll.hidden = details.hidden = !steps.length;
    words.replaceChildren(...steps.map((step) => element("li", {}, stepInWords(step))));
    note.textContent = pathNote(row, run, steps);
    redraw();
  };
}

function pathNote(row, run, steps) {
  if (!run.path) return run.outcome === "diverged" ? "Diverged: there is no path." : "This model does not work step by step, or in more steps than are drawn.";
  if (!steps.length) return run.equal === null ? "There is no path to read." : "No unit acts: the result is an input.";
  const read = new Set(steps.flatMap((step) => step.reads));
  const others = row.names.filter((name) => !read.has(name));
  return [
    others.length && others.length <= 12 ? `Inputs that are not read: ${others.join(", ")}.` : "",
    steps.every((step) => step.used) ? "" : "Dashed: y does not use it.",
    steps.some((step) => step.unit === "mixed") ? "Mixed: a gate is neither open nor closed." : "",
  ].filter(Boolean).join(" ");
}
