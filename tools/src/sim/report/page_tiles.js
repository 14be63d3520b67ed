// Pictures of what a submission stored, with a heat map of its tiles.
const METRICS = [
  ["cycles", "QPU cycles", (row) => row[CYCLES]],
  ["fetches", "TMU fetches", (row) => row[LOOKUPS]],
  ["overdraw", "overdraw", (row, area) => row[PIXELS] / area],
  ["instructions", "instructions", (row) => row[INSTRUCTIONS]],
  ["quads", "quads", (row) => row[QUADS]],
  ["primitives", "primitives", null],
];

// Stops of the ramp: share of the maximum, red, green, blue, opacity.
const RAMP = [[0, 40, 60, 200, .12], [.35, 190, 30, 160, .42], [.7, 255, 90, 20, .52], [1, 255, 215, 40, .6]];

function heat(share) {
  let i = 1;
  while (i < RAMP.length - 1 && share > RAMP[i][0]) i++;
  const [from, to] = [RAMP[i - 1], RAMP[i]];
  const t = Math.min(Math.max((share - from[0]) / (to[0] - from[0]), 0), 1);
  const mix = from.map((value, at) => value + (to[at] - value) * t);
  return `rgb(${mix.slice(1, 4).map(Math.round).join(" ")} / ${mix[4].toFixed(2)})`;
}

// Pixels of a tile that lie on the target.
function areaOf(sub, tile) {
  const [columns, , edge] = sub.tiles;
  const width = Math.min(sub.size[0] - (tile % columns) * edge, edge);
  const height = Math.min(sub.size[1] - Math.floor(tile / columns) * edge, edge);
  return Math.max(width, 1) * Math.max(height, 1);
}

// Work of every tile: all draws, or one.
function workOfTiles(sub, draw) {
  const work = Array.from({ length: sub.tiles[0] * sub.tiles[1] }, () => [0, 0, 0, 0, 0, 0]);
  for (const [tile, of, ...row] of sub.tileWork) {
    if (draw === null || of === draw) row.forEach((value, i) => { work[tile][i] += value; });
  }
  return work;
}

function valuesOf(sub, metric, draw) {
  if (metric === "primitives") return sub.tilePrimitives;
  const value = METRICS.find(([name]) => name === metric)[2];
  return workOfTiles(sub, draw).map((row, tile) => value(row, areaOf(sub, tile)));
}

const number = (value) => (Number.isInteger(value) ? short(value) : value.toFixed(2));

function overlay(sub, values, alone) {
  const [columns, , edge] = sub.tiles;
  const most = values ? Math.max(...values, 0) : 0;
  const cells = Array.from({ length: sub.tiles[0] * sub.tiles[1] }, (_, tile) => {
    const [x, y] = [(tile % columns) * edge, Math.floor(tile / columns) * edge];
    const title = `tile ${x / edge}, ${y / edge}` + (values ? `: ${number(values[tile])}` : "");
    return s("rect", {
      x, y, width: edge, height: edge, class: tile === shown.tile ? "tile on" : "tile", "data-tile": tile,
      fill: values && values[tile] > 0 ? heat(values[tile] / most) : "transparent",
      onclick: () => go(shown.at, shown.draw, tile === shown.tile ? null : tile),
    }, s("title", {}, title));
  });
  // The selected one last, so that its frame lies above its neighbours.
  if (shown.tile !== null) cells.push(cells.splice(shown.tile, 1)[0]);
  return s("svg", { viewBox: `0 0 ${sub.size[0]} ${sub.size[1]}`, preserveAspectRatio: "none", class: alone ? "alone" : null }, cells);
}

function choices(label, entries, chosen, choose) {
  return h("div", { class: "choices" }, h("span", { class: "label" }, label), entries.map(([value, text]) =>
    h("button", { "aria-pressed": String(value === chosen), onclick: () => choose(value) }, text)));
}

function redraw() { document.getElementById("tiles").replaceWith(tiles(current())); }
function setMetric(name) { shown.metric = name; redraw(); }
function setPicture(n) { shown.picture = n; redraw(); }
function nextPicture() { if (current().pictures.length) setPicture((shown.picture + 1) % current().pictures.length); }

function tiles(sub) {
  const has = sub.tiles[0] > 0;
  const values = has && shown.metric ? valuesOf(sub, shown.metric, shown.draw) : null;
  const picture = sub.pictures[shown.picture];
  const most = values ? Math.max(...values, 0) : 0;
  const metric = METRICS.find(([name]) => name === shown.metric);
  const left = h("div", {},
    sub.pictures.length ? choices("picture", sub.pictures.map(([name], i) => [i, name]), shown.picture, setPicture) : null,
    has ? choices("tiles", [...METRICS.map(([name, text]) => [name, text]), [null, "off"]], shown.metric, setMetric) : null,
    picture || has ? h("div", { class: "stage" },
      picture ? h("img", { src: data.pictures[picture[4]], width: picture[2], height: picture[3], alt: `${picture[0]} after submission ${sub.n}`, class: picture[0].startsWith("color") ? "color" : null }) : null,
      has ? overlay(sub, values, !picture) : null) : h("p", { class: "dim" }, "Nothing was stored."),
    values ? h("div", { class: "legend" }, "0", h("span", { class: "ramp" }), `${number(most)} ${metric[1]}` + (shown.draw !== null && shown.metric !== "primitives" ? ` of draw ${shown.draw}` : "")) : null,
    picture ? h("div", { class: "dim" }, picture[1]) : null);
  return h("section", { id: "tiles" }, h("h3", {}, "Picture and tiles"), h("div", { class: "view" }, left, has ? side2(sub) : null));
}

// What the selected tile, or the busiest ones, did.
function side2(sub) {
  if (shown.tile !== null) return tilePanel(sub, shown.tile);
  const metric = shown.metric && shown.metric !== "primitives" ? shown.metric : "cycles";
  const values = valuesOf(sub, metric, shown.draw);
  const order = values.map((value, tile) => [value, tile]).sort((a, b) => b[0] - a[0]).slice(0, 12).filter(([value]) => value > 0);
  const name = METRICS.find(([id]) => id === metric)[1];
  const rows = order.map(([value, tile]) => h("tr", {},
    cell(link(`${tile % sub.tiles[0]}, ${Math.floor(tile / sub.tiles[0])}`, shown.draw, tile)),
    num(number(value)), cell(meter(value, order[0][0]), "bar"), num(group(sub.tilePrimitives[tile] || 0))));
  return h("div", {}, h("h4", {}, `Busiest tiles by ${name}` + (shown.draw === null ? "" : ` of draw ${shown.draw}`)),
    rows.length ? table(["tile", "#" + name, "", "#primitives"], rows) : h("p", { class: "dim" }, "No fragment program ran."),
    h("p", { class: "dim" }, "Select a tile in the picture to see its draws."));
}

function tilePanel(sub, tile) {
  const [columns, , edge] = sub.tiles;
  const [x, y] = [tile % columns, Math.floor(tile / columns)];
  const rows = sub.tileWork.filter(([of]) => of === tile).map(([, draw, ...work]) => [draw, work]);
  const total = workOfTiles(sub, null)[tile];
  const most = Math.max(...rows.map(([, work]) => work[CYCLES]), 1);
  return h("div", { id: "tile" },
    h("h4", {}, `Tile ${x}, ${y}`),
    h("div", { class: "pairs" }, [
      ["pixels", `${x * edge}, ${y * edge} to ${Math.min((x + 1) * edge, sub.size[0]) - 1}, ${Math.min((y + 1) * edge, sub.size[1]) - 1}`],
      ["primitives in its list", group(sub.tilePrimitives[tile] || 0)],
      ["QPU cycles, estimated", group(total[CYCLES])], ["instructions", group(total[INSTRUCTIONS])],
      ["TMU fetches", group(total[LOOKUPS])], ["pixels shaded", group(total[PIXELS])],
      ["overdraw", (total[PIXELS] / areaOf(sub, tile)).toFixed(2)],
      ["lanes with a pixel", percent(total[PIXELS], total[QUADS] * 4)],
    ].map(([name, value]) => [h("span", {}, name), h("span", {}, value)])),
    h("h4", {}, "Its draws"),
    rows.length ? table(["draw", "#cycles", "", "#fetches", "#pixels"], rows.map(([draw, work]) => h("tr", {},
      cell(link(`${draw} ${sub.draws[draw]?.mode || ""}`, draw, tile)), num(group(work[CYCLES])), cell(meter(work[CYCLES], most), "bar"),
      num(group(work[LOOKUPS])), num(group(work[PIXELS]))))) : h("p", { class: "dim" }, "No fragment program ran here."));
}
