// A table that is a single stop of the Tab key: arrow keys, Home, End, Page Up and Page Down move within it.

const MOVES = {
  ArrowUp: (at) => ({ row: at.row - 1 }),
  ArrowDown: (at) => ({ row: at.row + 1 }),
  ArrowLeft: (at) => ({ cell: at.cell - 1 }),
  ArrowRight: (at) => ({ cell: at.cell + 1 }),
  PageUp: (at) => ({ row: at.row - at.page }),
  PageDown: (at) => ({ row: at.row + at.page }),
  Home: (at, whole) => (whole ? { row: 0, cell: 0 } : { cell: 0 }),
  End: (at, whole) => (whole ? { row: Infinity, cell: Infinity } : { cell: Infinity }),
};

// A button that opens a line below its own, and closes it.
function opener(text, made) {
  const button = element("button", { type: "button", class: "plain", tabindex: "-1", "aria-expanded": "false", onclick: () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) button.closest("tr").nextElementSibling.remove();
    else button.closest("tr").after(made());
  } }, text);
  return button;
}

const toggle = (line) => line.querySelector("button[aria-expanded]")?.click();

// `acts` has what Enter does in a cell, if it is not to open the line, and `moved` for when a cell becomes the current one.
// `refresh` is for whoever has put in lines or taken some out.
function makeGrid(table, label, acts = {}) {
  const area = table.parentElement;
  let current = null;
  let column = 0; // a line with a single wide cell does not change the column
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", label);

  const lines = () => [...table.rows].filter((row) => !row.hidden);
  const limited = (value, count) => Math.max(0, Math.min(value, count - 1));

  // Only the current cell can be reached by Tab; controls in cells work by click and by the keys of their cell.
  function choose(cell) {
    if (cell === current) return;
    current?.removeAttribute("tabindex");
    current = cell;
    current?.setAttribute("tabindex", "0");
  }

  function go(cell) {
    choose(cell);
    // Headings stay in view above and to the left of the cell.
    area.style.scrollPadding = `${table.tHead.offsetHeight}px 0 0 ${table.rows[0].cells[0].offsetWidth}px`;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function moved(name, whole) {
    const rows = lines();
    const row = rows.indexOf(current.parentElement);
    const page = Math.max(1, Math.floor((Math.min(area.clientHeight, innerHeight) - table.tHead.offsetHeight) / (current.offsetHeight || 1)) - 1);
    const to = { row, cell: column, ...MOVES[name]({ row, cell: column, page }, whole) };
    const cells = rows[limited(to.row, rows.length)].cells;
    if (to.cell !== column) column = limited(to.cell, cells.length);
    go(cells[limited(column, cells.length)]);
  }

  // The cell of this table around a node; an opened line may have a table of its own.
  function cellOf(node) {
    const cell = node.closest("th, td");
    return !cell || cell.closest("table") === table ? cell : cellOf(cell.closest("table").parentElement);
  }

  // The line of a cell; an opened line belongs to the one above it.
  function lineOf(cell) {
    const row = cell.parentElement;
    return row.classList.contains("detail") ? row.previousElementSibling : row;
  }

  const keys = {
    Enter: (cell, line) => {
      if (cell.closest("thead") === table.tHead) cell.querySelector("button")?.click();
      else if (acts.Enter) acts.Enter(cell, line);
      else toggle(line);
    },
    " ": (cell, line) => toggle(line),
    Escape: (cell, line) => {
      if (line === cell.parentElement) return;
      toggle(line);
      go(line.cells[0]);
    },
  };

  table.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || !current) return;
    if (MOVES[event.key]) moved(event.key, event.ctrlKey);
    else if (keys[event.key]) keys[event.key](current, lineOf(current));
    else return;
    event.preventDefault();
  });
  table.addEventListener("focusin", (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    choose(cell);
    if (cell.colSpan === 1) column = cell.cellIndex;
    if (event.target !== cell) cell.focus({ preventScroll: true });
    acts.moved?.(cell);
  });
  table.addEventListener("pointerdown", (event) => {
    const cell = cellOf(event.target);
    if (cell) choose(cell); // the press itself gives it the focus
  });

  // After lines have come and gone: the current cell is one that is there.
  function refresh() {
    if (current?.isConnected && !current.parentElement.hidden) return;
    const rows = lines();
    choose((rows.find((row) => row.parentElement !== table.tHead) ?? rows[0]).cells[0]);
    column = 0;
  }
  table.addEventListener("click", refresh); // it may have closed a line
  return { refresh };
}
