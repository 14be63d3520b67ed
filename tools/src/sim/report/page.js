// The page: state, routes, keys, and the parts around a submission.
const data = JSON.parse(document.getElementById("data").textContent);
const INSTANCES = 0, INSTRUCTIONS = 1, CYCLES = 2, LOOKUPS = 3, QUADS = 4, PIXELS = 5;
const SVG = "http://www.w3.org/2000/svg";
// What is shown: a submission, what its picture carries, and what is selected in it.
const shown = { at: 0, picture: 0, metric: "cycles", draw: null, tile: null };

// An element; children that are text stay text, whatever they hold.
function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const group = (n) => Math.round(n).toLocaleString("en").replaceAll(",", "\u2009");

function short(n) {
  if (n < 10000) return group(n);
  const units = ["", "k", "M", "G", "T"];
  let unit = 0;
  while (n >= 999.5 && unit < units.length - 1) { n /= 1000; unit++; }
  return n.toPrecision(3) + " " + units[unit];
}

function bytes(n) {
  if (n < 1024) return n + " B";
  return n < 1 << 20 ? (n / 1024).toFixed(n % 1024 ? 1 : 0) + " KiB" : (n / (1 << 20)).toFixed(1) + " MiB";
}

const percent = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(part / whole < .1 ? 1 : 0) + " %" : "–");

function meter(part, whole) {
  const width = whole > 0 ? Math.max(part > 0 ? 1 : 0, 100 * part / whole) : 0;
  return h("span", { class: "meter" }, h("i", { style: `width:${width.toFixed(1)}%` }));
}

function table(heads, rows, attributes) {
  const head = heads.map((name) => h("th", { class: name.startsWith("#") ? "num" : null }, name.replace("#", "")));
  return h("div", { class: "scroll" }, h("table", attributes, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)));
}

const cell = (content, kind) => h("td", { class: kind || null }, content);
const num = (content) => cell(content, "num");

function totals(entries) {
  return entries.map(([name, value, title]) => h("div", { class: "total", title: title || null }, h("b", {}, value), h("span", {}, name)));
}

const plural = (n, what, more) => `${group(n)} ${n === 1 ? what : more || what + "s"}`;
const current = () => data.submissions[shown.at];
const shaded = (sub) => sub.size[0] * sub.size[1];
const link = (text, draw, tile) => h("a", { href: route(shown.at, draw, tile) }, text);

function route(at, draw, tile) {
  const submission = "#s" + data.submissions[at].n;
  return submission + (draw === null || draw === undefined ? "" : "/d" + draw) + (tile === null || tile === undefined ? "" : "/t" + tile);
}

const programName = () => data.program.split("/").pop() || "unnamed program";

function top_() {
  const sum = (of) => data.submissions.reduce((all, sub) => all + of(sub), 0);
  const bad = data.submissions.filter((sub) => sub.status !== "done").length;
  fill(document.getElementById("top"), {}, [
    h("h1", { title: data.program }, programName(), h("small", {}, `${data.file}, process ${data.process}, ${data.strict ? "strict" : "faithful"} validator, vc4 ${data.version}`)),
    ...totals([
      ["submissions", data.submissions.length === data.count ? group(data.count) : `${data.submissions.length} of ${group(data.count)}`],
      ["draws", group(sum((sub) => sub.draws.length))],
      ["QPU cycles, estimated", short(sum((sub) => sub.total[CYCLES]))],
      ["QPU instructions", short(sum((sub) => sub.total[INSTRUCTIONS]))],
      ["TMU fetches", short(sum((sub) => sub.total[LOOKUPS])), "requests of 16 elements"],
      ["pixels shaded", short(sum((sub) => sub.total[PIXELS]))],
    ]),
    bad ? h("span", { class: "hung" }, h("i", { class: "dot" }), `${bad} did not finish`) : null,
    h("div", { class: "tools" },
      h("button", { id: "swapper", title: "Exchange red and blue in pictures (b)", "aria-pressed": "false", onclick: swap }, "BGRA"),
      h("button", { title: "Light or dark (l)", onclick: theme }, "◐"),
      h("button", { title: "Keys (?)", onclick: help }, "?"))]);
}

function swap() {
  const on = document.body.classList.toggle("swap");
  document.getElementById("submissions").classList.toggle("swap", on);
  document.getElementById("swapper").setAttribute("aria-pressed", on);
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const KEYS = [
  ["j", "k", "next and previous submission"], ["n", "p", "next and previous draw"],
  ["1 … 6", "", "what the tiles show"], ["0", "", "tiles off"], ["a", "", "next attachment"],
  ["← → ↑ ↓", "", "another tile, once one is selected"], ["Esc", "", "nothing selected"],
  ["b", "", "exchange red and blue"], ["l", "", "light or dark"], ["?", "", "this list"],
];

function help() {
  const rows = KEYS.map(([one, two, what]) => h("tr", {}, cell([h("kbd", {}, one), two ? [" ", h("kbd", {}, two)] : null]), cell(what)));
  const dialog = document.getElementById("help");
  dialog.replaceChildren(h("h3", {}, "Keys"), table(["", ""], rows), h("p", {}, h("button", { onclick: () => dialog.close() }, "Close")));
  dialog.showModal();
}

function side() {
  const most = Math.max(...data.submissions.map((sub) => sub.total[CYCLES]), 1);
  document.getElementById("submissions").replaceChildren(...data.submissions.map((sub, at) => {
    const picture = sub.pictures.length ? h("img", { src: data.pictures[sub.pictures[0][4]], alt: "", loading: "lazy" }) : h("span", { class: "blank" });
    const about = sub.status === "done" ? plural(sub.draws.length, "draw") : sub.status;
    return h("a", { href: route(at), id: "nav" + at, "aria-current": "false", title: `${short(sub.total[CYCLES])} cycles` },
      picture, h("span", { class: "name" }, "#" + sub.n),
      h("span", { class: "about" }, h("i", { class: "dot " + sub.status }), `${sub.size[0]}×${sub.size[1]}, ${about}`),
      meter(sub.total[CYCLES], most));
  }));
}

function summary(sub) {
  const [columns, rows, edge] = sub.tiles;
  const pixels = sub.total[PIXELS];
  return h("section", { id: "summary" },
    h("h2", {}, `Submission ${sub.n} `, h("span", { class: "status " + sub.status }, sub.status),
      h("small", {}, `${sub.size[0]} × ${sub.size[1]} pixels` + (columns ? `, ${columns} × ${rows} tiles of ${edge} pixels` : ""))),
    sub.note ? h("div", { class: "note" }, sub.note) : null,
    sub.differs.map((what) => h("div", { class: "note" }, "Differs from the recording: it " + what)),
    sub.findings.map((what) => h("div", { class: "note warn" }, what)),
    h("div", { class: "totals" }, totals([
      ["draws", group(sub.draws.length)],
      ["primitives in tiles", group(sub.tilePrimitives.reduce((a, b) => a + b, 0))],
      ["QPU cycles, estimated", short(sub.total[CYCLES]), group(sub.total[CYCLES])],
      ["QPU instructions", short(sub.total[INSTRUCTIONS]), group(sub.total[INSTRUCTIONS])],
      ["program instances", short(sub.total[INSTANCES]), "of 16 elements"],
      ["TMU fetches", short(sub.total[LOOKUPS]), "of 16 elements"],
      ["pixels shaded", short(pixels), group(pixels)],
      ["overdraw", (pixels / Math.max(shaded(sub), 1)).toFixed(2), "shaded pixels per pixel of the target"],
      ["lanes with a pixel", percent(pixels, sub.total[QUADS] * 4), "of the quads that were shaded"],
      ["ms on the simulator", sub.ms.toFixed(1)],
    ])));
}

function show(at, draw, tile) {
  const changed = at !== shown.at || !document.getElementById("summary");
  Object.assign(shown, { at, draw, tile });
  document.querySelectorAll("nav a").forEach((a, i) => a.setAttribute("aria-current", i === at));
  document.getElementById("nav" + at)?.scrollIntoView({ block: "nearest" });
  const sub = current();
  if (changed) {
    shown.picture = Math.min(shown.picture, Math.max(sub.pictures.length - 1, 0));
    const main = document.getElementById("main");
    main.replaceChildren(summary(sub), tiles(sub), draws(sub), shaders(sub), lists(sub), counters(sub), buffers(sub));
    main.scrollTop = 0;
  } else {
    document.getElementById("tiles").replaceWith(tiles(sub));
  }
  if (draw !== null && (changed || !document.getElementById("draw" + draw).open)) {
    const details = document.getElementById("draw" + draw);
    details.open = true;
    details.classList.add("flash");
    details.scrollIntoView({ block: "start" });
  }
  document.title = `#${sub.n} – ${programName()} – vc4 sim report`;
}

function follow() {
  const found = /^#s(\d+)(?:\/d(\d+))?(?:\/t(\d+))?$/.exec(location.hash);
  const named = found ? data.submissions.findIndex((sub) => sub.n === Number(found[1])) : 0;
  // The page may hold other submissions than the one that a link names.
  const at = Math.max(named, 0);
  const sub = data.submissions[at];
  const number = (text, end) => (text !== undefined && Number(text) < end ? Number(text) : null);
  show(at, number(found?.[2], sub.draws.length), number(found?.[3], sub.tiles[0] * sub.tiles[1]));
}

function go(at, draw, tile) {
  const target = route(at, draw, tile);
  if (location.hash === target) follow(); else location.hash = target;
}

function step(by) {
  const at = Math.min(Math.max(shown.at + by, 0), data.submissions.length - 1);
  if (at !== shown.at) go(at, null, null);
}

function stepDraw(by) {
  const count = current().draws.length;
  if (!count) return;
  const next = shown.draw === null ? (by > 0 ? 0 : count - 1) : Math.min(Math.max(shown.draw + by, 0), count - 1);
  if (shown.draw !== null) document.getElementById("draw" + shown.draw).open = false;
  go(shown.at, next, shown.tile);
}

function stepTile(dx, dy) {
  const [columns, rows] = current().tiles;
  const x = Math.min(Math.max(shown.tile % columns + dx, 0), columns - 1);
  const y = Math.min(Math.max(Math.floor(shown.tile / columns) + dy, 0), rows - 1);
  go(shown.at, shown.draw, y * columns + x);
}

function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || document.getElementById("help").open) return;
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const actions = {
    j: () => step(1), k: () => step(-1), n: () => stepDraw(1), p: () => stepDraw(-1), a: () => nextPicture(),
    b: swap, l: theme, "?": help, 0: () => setMetric(null), Escape: () => go(shown.at, null, null),
  };
  METRICS.forEach(([name], i) => { actions[i + 1] = () => setMetric(name); });
  if (shown.tile !== null && arrows[event.key]) actions[event.key] = () => stepTile(...arrows[event.key]);
  const action = actions[event.key];
  if (action) { event.preventDefault(); action(); }
}

function start() {
  top_();
  if (!data.submissions.length) {
    document.getElementById("main").append(h("section", {}, "The capture holds no submissions."));
    return;
  }
  side();
  addEventListener("hashchange", follow);
  addEventListener("keydown", key);
  follow();
}
