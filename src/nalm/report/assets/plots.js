// Shared by all plots: colours that colour-blind people can distinguish, light and dark.

const COLOURS = 7;
const colourOf = (index) => css(`--u${index % COLOURS}`);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function baseLayout(xaxis, yaxis) {
  const axis = {
    gridcolor: css("--line"), linecolor: css("--line"), zeroline: false, automargin: true, fixedrange: true,
  };
  return {
    margin: { l: 56, r: 12, t: 14, b: 44 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: css("--ink"), size: 12, family: getComputedStyle(document.body).fontFamily },
    hoverlabel: { bgcolor: css("--raised"), bordercolor: css("--line"), font: { color: css("--ink") }, align: "left" },
    showlegend: false, hovermode: "closest", dragmode: false,
    xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis },
  };
}

// An axis of powers of ten over these values, with every few labelled; the least one may also mean smaller values.
function powers(values, least) {
  const found = values.filter((value) => value > 0).map(Math.log10);
  const low = Math.max(Math.floor(Math.min(...found) - 0.2), Math.round(Math.log10(least))), high = Math.ceil(Math.max(...found) + 0.2);
  if (!found.length) return {};
  const every = Math.ceil((high - low) / 8);
  const exponents = [];
  for (let k = low; k <= high; k++) if ((k - low) % every === 0) exponents.push(k);
  const label = (k) => `${10 ** k <= least ? "≤" : ""}10<sup>${String(k).replace("-", "−")}</sup>`;
  return { type: "log", range: [low - 0.3, high + 0.1], tickvals: exponents.map((k) => 10 ** k), ticktext: exponents.map(label), tickfont: { size: 11 } };
}

function say(layout, text) {
  layout.annotations = [...(layout.annotations ?? []), {
    text, xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false, font: { size: 14, color: css("--soft") },
  }];
}

// Plots are drawn when they first become visible, and again when their data, the width or the colours change.
const plots = new Map();
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    plots.get(entry.target).visible = true;
    draw(entry.target);
  }
}, { rootMargin: "300px" });

function plot(label, make) {
  const div = element("div", { class: "plot", role: "img", "aria-label": label });
  plots.set(div, { make, visible: false });
  seen.observe(div);
  return div;
}

function redraw(div, make = plots.get(div).make) {
  const held = plots.get(div);
  held.make = make;
  return held.visible ? draw(div) : Promise.resolve();
}

async function draw(div) {
  const Plotly = await loadPlotly();
  const { traces, layout } = plots.get(div).make();
  await Plotly.react(div, traces, layout, { responsive: true, displaylogo: false, displayModeBar: false });
  div.dataset.drawn = "true";
}

// The window may have changed while plots were hidden, which does not resize them.
async function resized(...divs) {
  const Plotly = await loadPlotly();
  for (const div of divs) if (div.dataset.drawn) Plotly.Plots.resize(div);
}

// A printed page has every plot, including those that were never visible.
addEventListener("beforeprint", () => {
  for (const [div, held] of plots) {
    if (held.visible) continue;
    held.visible = true;
    draw(div);
  }
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [div, held] of plots) if (held.visible) draw(div);
});
