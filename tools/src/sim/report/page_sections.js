// Draws, programs, lists, counters and buffers of a submission.
function fold(id, head, build, open) {
  const details = h("details", { id }, h("summary", {}, head));
  const open_ = () => { if (details.open && details.children.length === 1) details.append(h("div", { class: "body" }, build())); };
  details.addEventListener("toggle", open_);
  if (open) { details.open = true; open_(); }
  return details;
}

function drawWork(draw) {
  const all = [0, 0, 0, 0, 0, 0];
  draw.programs.forEach((program) => program.work.forEach((value, i) => { all[i] += value; }));
  return all;
}

function draws(sub) {
  const works = sub.draws.map(drawWork);
  const most = Math.max(...works.map((work) => work[CYCLES]), 1);
  const total = works.reduce((sum, work) => sum + work[CYCLES], 0);
  return h("section", { id: "draws" }, h("h3", {}, "Draws", h("small", {}, `${sub.draws.length}`)),
    sub.draws.length ? null : h("p", { class: "dim" }, "None: a job that only clears, loads or stores, or one that was not binned."),
    sub.draws.map((draw, n) => fold("draw" + n, [
      h("span", { class: "name" }, `${n} ${draw.mode}`),
      h("span", { class: "dim" }, `${plural(draw.count, "vertex", "vertices")} (${draw.source}), ${plural(draw.primitives, "primitive")} in tiles`),
      h("span", { class: "push dim" }, `${short(works[n][CYCLES])} cycles, ${percent(works[n][CYCLES], total)}`),
      meter(works[n][CYCLES], most),
    ], () => drawBody(sub, draw, n))));
}

function drawBody(sub, draw, n) {
  const programs = draw.programs.map((program) => h("tr", {},
    cell(h("a", { href: "#program" + program.program, onclick: (event) => { event.preventDefault(); openProgram(program.program, n); } }, program.stage)),
    cell(program.at, "code"), num(group(program.work[INSTANCES])), num(group(program.work[INSTRUCTIONS])),
    num(group(program.work[CYCLES])), num(group(program.work[LOOKUPS])),
    num(program.stage === "fragment" ? percent(program.work[PIXELS], program.work[QUADS] * 4) : "–")));
  const tileList = [...new Set(sub.tileWork.filter(([, of]) => of === n).map(([tile]) => tile))];
  return [
    h("p", {}, shown.draw === n ? link("Show all draws in the tiles", null, shown.tile) : link("Show only this draw in the tiles", n, shown.tile),
      h("span", { class: "dim" }, ` · shades in ${tileList.length} of ${sub.tiles[0] * sub.tiles[1]} tiles, ${group(draw.vertices)} distinct vertices`)),
    h("h4", {}, "Programs"),
    table(["stage", "code", "#instances", "#instructions", "#cycles", "#fetches", "#lanes with a pixel"], programs),
    draw.textures.length ? [h("h4", {}, "Textures"), h("div", { class: "textures" }, draw.textures.map(([stage, at, note, width, height, picture]) =>
      h("figure", {}, h("img", { src: data.pictures[picture], width, height, class: "color", alt: `texture at ${at}` }), h("figcaption", {}, at, h("br"), h("span", { class: "dim" }, `${note}, ${stage}`)))))] : null,
    h("h4", {}, "State"),
    h("div", { class: "packets" }, draw.state.map(([name, fields]) => h("div", { class: "packet" }, h("b", {}, name),
      fields.map(([field, value, set]) => h("div", { class: set ? "set" : null }, h("span", {}, field), h("span", {}, value)))))),
    h("h4", {}, "Shader record"),
    h("div", { class: "packets" }, h("div", { class: "packet wide" }, draw.record.map(([name, value]) => h("div", {}, h("span", {}, name), h("span", {}, value))))),
    h("h4", {}, "Attributes"),
    table(["array", "address", "#bytes", "#stride", "vertex VPM", "coordinate VPM"], draw.attributes.map(([at, size, stride, vertex, coordinate], i) =>
      h("tr", {}, cell(i), cell(at, "code"), num(size), num(stride), cell(vertex), cell(coordinate)))),
    h("h4", {}, "Uniforms"),
    draw.programs.map((program) => fold(null, [h("span", { class: "name" }, program.stage), h("span", { class: "dim" }, `${program.uniforms.length} words`)],
      () => table(["#word", "#instruction", "hexadecimal", "meaning"], program.uniforms.map(([at, word, text], i) =>
        h("tr", {}, num(i), num(at), cell("0x" + word.toString(16).padStart(8, "0"), "code"), cell(text, "code")))))),
  ].filter((part) => part);
}

// The programs of a submission: number, work, and per draw what it executed.
function programsOf(sub) {
  const found = new Map();
  sub.draws.forEach((draw, n) => draw.programs.forEach((use) => {
    const entry = found.get(use.program) || { work: [0, 0, 0, 0, 0, 0], uses: [] };
    use.work.forEach((value, i) => { entry.work[i] += value; });
    entry.uses.push([n, use]);
    found.set(use.program, entry);
  }));
  return [...found].sort((a, b) => b[1].work[CYCLES] - a[1].work[CYCLES]);
}

function shaders(sub) {
  const programs = programsOf(sub);
  const total = programs.reduce((sum, [, { work }]) => sum + work[CYCLES], 0);
  return h("section", { id: "shaders" }, h("h3", {}, "Programs", h("small", {}, "by cycles")),
    programs.length ? null : h("p", { class: "dim" }, "No program ran."),
    programs.map(([number, { work, uses }], i) => {
      const program = data.programs[number];
      return fold("program" + number, [
        h("span", { class: "name" }, `${program.stage} program ${number}`),
        h("span", { class: "dim" }, `${plural(program.code.length, "instruction")}, ${plural(uses.length, "draw")}, ${plural(work[INSTANCES], "instance")}`),
        h("span", { class: "push dim" }, `${short(work[CYCLES])} cycles, ${percent(work[CYCLES], total)}`), meter(work[CYCLES], total),
      ], () => programBody(number, uses, null), i === 0);
    }));
}

function openProgram(number, draw) {
  const details = document.getElementById("program" + number);
  details.open = true;
  const uses = programsOf(current()).find(([of]) => of === number)[1].uses;
  details.querySelector(".body")?.remove();
  details.append(h("div", { class: "body" }, programBody(number, uses, draw)));
  details.scrollIntoView({ block: "start" });
}

function programBody(number, uses, only) {
  const program = data.programs[number];
  const chosen = uses.filter(([draw]) => only === null || draw === only);
  const counts = program.code.map((_, line) => chosen.reduce((sum, [, use]) => sum + (typeof use.lines === "number" ? use.lines : use.lines[line] || 0), 0));
  const cycles = counts.map((count, line) => count * program.slots[line] * 4);
  const [most, total] = [Math.max(...cycles, 1), cycles.reduce((a, b) => a + b, 0)];
  const words = new Map();
  chosen[0]?.[1].uniforms.forEach(([line, word, text], i) => words.set(line, `${words.has(line) ? words.get(line) + "; " : ""}u${i} = ${text}`));
  const again = (draw) => {
    const body = document.querySelector(`#program${number} > .body`);
    body.replaceChildren(...[programBody(number, uses, draw)].flat());
  };
  return [
    h("p", { class: "dim" }, `One run: ${program.slots.reduce((a, b) => a + b, 0)} slots of 4 cycles alone; about ${program.cycles} cycles with all QPUs at work, limited by ${program.limit}. ` +
      `${plural(program.nops, "nop")}, ${plural(program.branches, "branch", "branches")}, ${program.threaded ? "two threads" : "one thread"}. ` +
      "Accesses: " + program.shared.map((unit) => `${unit.name} ${unit.accesses}`).join(", ")),
    uses.length > 1 ? choices("draw", [[null, "all"], ...uses.map(([draw]) => [draw, String(draw)])].slice(0, 40), only, again)
      : h("p", {}, "Used by ", link(`draw ${uses[0][0]}`, uses[0][0], shown.tile)),
    table(["#line", "#executed", "#cycles", "#share", "", "instruction", "waits for", chosen.length > 1 ? "uniforms of the first draw" : "uniforms"],
      program.code.map((text, line) => h("tr", { class: counts[line] ? null : "never" },
        num(line), num(group(counts[line])), num(group(cycles[line])), num(percent(cycles[line], total)), cell(meter(cycles[line], most), "bar"),
        cell(instruction(text), "code"),
        cell(program.waits[line] ? `${program.waits[line]} ${program.slots[line] - 1}` : "", "dim"), cell(words.get(line) || "", "code uni"))), { class: "listing" }),
  ];
}

// Signals stand out, operations that do nothing stand back.
function instruction(text) {
  return text.split(" ; ").map((part, i) => {
    part = part.replace(/ ;$/, "");
    const kind = part === "sig_none" || part.includes("= nop") || /^nop = \w+\(\)$/.test(part) ? "nop" : part.startsWith("sig_") ? "sig" : "op";
    return [i ? h("span", { class: "nop" }, " ; ") : null, h("span", { class: kind }, i === 1 ? part.padEnd(38) : i === 0 ? part.padEnd(12) : part)];
  });
}

function lists(sub) {
  const drawAt = new Map(sub.binDraws.map((line, draw) => [line, draw]));
  const part = (name, number, about, linked) => number < 0 ? null : fold(null,
    [h("span", { class: "name" }, name), h("span", { class: "dim" }, `${data.lists[number].length} packets; ${about}`)],
    () => h("pre", { class: "lines" }, data.lists[number].map((line, i) => [packetLine(line), linked && drawAt.has(i) ? [" ", link(`← draw ${drawAt.get(i)}`, drawAt.get(i), shown.tile)] : null, "\n"])));
  return h("section", { id: "lists" }, h("h3", {}, "Control lists"),
    part("binning list", sub.bin, sub.render < 0 ? "as submitted" : "as validated and relocated", true), part("rendering list", sub.render, "as the kernel makes it", false),
    sub.render < 0 ? h("p", { class: "dim" }, "The submission did not become a job, so that there is no rendering list.") : null);
}

function packetLine(line) {
  const [, at, name, fields] = /^(\S+)\s+(\S+)(.*)$/.exec(line) || [null, "", line, ""];
  const values = fields.split(" ").filter((field) => field).map((field) => {
    const [key, value] = field.split("=");
    return [" ", key, value === undefined ? null : ["=", h("span", { class: "v" }, value)]];
  });
  return [h("span", { class: "at" }, at + "  "), h("b", {}, name), values];
}

function counters(sub) {
  const rows = data.events.map((name, i) => [name, sub.counters[i]]).filter(([, count]) => count > 0);
  const clocks = rows.filter(([name]) => name.startsWith("QPU clocks"));
  const most = Math.max(...clocks.map(([, count]) => count), 1);
  return h("section", { id: "counters" }, h("h3", {}, "Performance counters", h("small", {}, "what a performance monitor reads")),
    rows.length ? table(["event", "#count", ""], rows.map(([name, count]) =>
      h("tr", {}, cell(name), num(group(count)), cell(name.startsWith("QPU clocks") ? meter(count, most) : "", "bar")))) : h("p", { class: "dim" }, "The job did not finish."));
}

function buffers(sub) {
  return h("section", { id: "buffers" }, h("h3", {}, "Submission and buffers"),
    fold(null, [h("span", { class: "name" }, "drm_vc4_submit_cl"), h("span", { class: "dim" }, `${sub.fields.length} fields`)],
      () => h("div", { class: "pairs code" }, sub.fields.map(([name, value]) => [h("span", {}, name), h("span", {}, value)]))),
    fold(null, [h("span", { class: "name" }, "buffer objects"), h("span", { class: "dim" }, `${sub.bos.length}, ${bytes(sub.bos.reduce((sum, bo) => sum + bo[2], 0))}`)],
      () => table(["BO", "#handle", "#size", "kind", "#pages changed before", "stored by the job"], sub.bos.map(([title, handle, size, kind, changed, stored]) =>
        h("tr", {}, cell(title), num(handle), num(bytes(size)), cell(kind), num(changed || ""), cell(stored ? "yes" : ""))))));
}
