"use strict";
// Data are gzip in base64: their text can never be taken for markup, and the page stays small.

async function unpack(id) {
  const text = document.getElementById(id).textContent;
  if (!text) return new ArrayBuffer(0);
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function unpackJson(id) {
  const buffer = await unpack(id);
  return buffer.byteLength ? JSON.parse(new TextDecoder().decode(buffer)) : null;
}

// The plotting library, loaded once; its script runs with this page's nonce.
let plotting = null;
function loadPlotly() {
  plotting ??= unpack("plotly").then((buffer) => {
    const script = document.createElement("script");
    script.nonce = document.querySelector("script[nonce]").nonce;
    script.textContent = new TextDecoder().decode(buffer);
    document.head.append(script);
    return window.Plotly;
  });
  return plotting;
}

// Single runs: a header in JSON, then 16-bit differences along time, all high bytes before all low bytes.
let unpackedRuns = null;
function loadRuns() {
  unpackedRuns ??= unpack("runs-data").then((buffer) => {
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const bytes = new Uint8Array(buffer, 4 + length);
    const half = bytes.length / 2;
    const numbers = new Int16Array(half);
    for (let k = 0; k < half; k++) numbers[k] = (bytes[k] << 8) | bytes[half + k];
    let offset = 0;
    const runs = header.row.map((row, k) => {
      const start = offset;
      offset += 2 * header.grids[header.steps[k]].length + header.cases[row].names.length * header.grids[header.points[k]].length;
      return { k, row, seed: header.seed[k], start };
    });
    return { header, numbers, runs };
  });
  return unpackedRuns;
}

// One run's curves and weights, as numbers.
function runDetails({ header, numbers }, run) {
  const cell = header.cases[run.row];
  const steps = header.grids[header.steps[run.k]];
  const points = header.grids[header.points[run.k]];
  let at = run.start;
  const series = (length) => {
    const values = [];
    let value = 0;
    for (let k = 0; k < length; k++) {
      value = ((value + numbers[at++] + 32768) & 65535) - 32768;
      values.push(value);
    }
    return values;
  };
  const error = (value) => (value === -32768 ? null : value === -32767 ? 0 : 10 ** (value / header.errors_per_decade));
  const validation = series(steps.length).map(error);
  const test = series(steps.length).map(error);
  const scale = header.scale[run.k];
  const weights = (points.length ? cell.names : []).map((name) => ({
    name,
    values: series(points.length).map((value) => (value === -32768 ? null : value * scale)),
  }));
  const [equal, path] = header.verdicts?.[run.k] ?? [null, null]; // only tasks with formulas have verdicts
  return {
    equal, path: path === null ? null : header.paths[path],
    steps, validation, test, points, weights, allWeights: cell.weights,
    outcome: header.outcomes[header.outcome[run.k]],
    chosen: header.chosen[run.k],
    solvedAt: header.solved_at[run.k],
    sparsity: header.sparsity[run.k],
    threshold: header.threshold[run.k],
    formula: header.formulas[header.formula[run.k]],
  };
}
