// Elements, always made from text and never from markup; numbers in readable form.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map((c) => (c instanceof Node ? c : String(c))));
  return made;
}

// A part of a drawing.
function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function choice(label, options, chosen, act) {
  const select = element("select", {
    onchange: () => act(options[select.selectedIndex].value),
  }, ...options.map((o) => element("option", { selected: o.value === chosen ? "" : null }, o.text)));
  return element("label", {}, label, select);
}

function buttons(label, names, isPressed, act) {
  const group = element("div", { class: "controls choice", role: "group", "aria-label": label });
  for (const name of names) {
    group.append(element("button", {
      type: "button", "aria-pressed": String(isPressed(name)), onclick: (event) => act(name, event.currentTarget),
    }, name));
  }
  return group;
}

const words = (name) => name.replaceAll("_", " ");

function short(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  if (Math.abs(value) >= 1e8) return value.toExponential(1);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

function withInterval(value, low, high, form = short) {
  if (value === null || value === undefined) return "–";
  return low === null || low === undefined ? form(value) : `${form(value)} [${form(low)}, ${form(high)}]`;
}

const rate = (value) => value.toFixed(2);

// Plotly interprets some markup in labels; text from data must be shown literally.
const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
