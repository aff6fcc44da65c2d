// Of falling marks those whose names have room below the one above; the window is at 1.
function spaced(marks, room) {
  const kept = [1];
  for (const mark of marks) if (kept[kept.length - 1] - mark >= room) kept.push(mark);
  return kept;
}

// A replay turn by turn: what was sent, the window, the marks, and what was fired at them.
function timeline(replay) {
  const width = 960, height = 300, left = 64, right = 12, top = 16, bottom = 34;
  const most = Math.max(replay.window, ...replay.turns.map((turn) => turn[1]), ...replay.fires.map((fire) => fire[6])) * 1.05;
  const ended = replay.end === null ? 0 : 1;
  const x = (i) => left + ((width - left - right) * (i + 0.5)) / Math.max(1, replay.turns.length + ended);
  const y = (tokens) => height - bottom - ((height - top - bottom) * tokens) / most;
  const points = replay.turns.map((turn, i) => `${x(i).toFixed(1)},${y(turn[1]).toFixed(1)}`);
  const across = (tokens, kind, name) => [
    svg("line", { class: kind, x1: left, x2: width - right, y1: y(tokens), y2: y(tokens) }),
    name ? svg("text", { x: left - 6, y: y(tokens) + 4, "text-anchor": "end" }, name) : null];
  const marks = [...new Set(replay.fires.filter((fire) => !fire[3]).map((fire) => fire[1]))].sort((a, b) => b - a);
  const named = spaced(marks, (18 / (height - top - bottom)) * (most / replay.window));
  const fires = replay.fires.flatMap((fire) => {
    const applied = fire[4] === "applied", at = x(fire[0]);
    return [svg("line", { class: applied ? "t-fire" : "t-idle", x1: at, x2: at, y1: y(fire[6]), y2: y(applied ? fire[7] : 0) }),
      svg("circle", { class: applied ? "t-dot" : "t-dotidle", cx: at, cy: y(fire[6]), r: 4 })];
  });
  const cut = replay.turns.flatMap((turn, i) => (turn[3] ? [svg("rect", { class: "t-cut", x: x(i) - 1.5, y: height - bottom, width: 3, height: 6 })] : []));
  const every = Math.max(1, Math.ceil(replay.turns.length / 10));
  const ticks = replay.turns.flatMap((_, i) => (i % every ? [] : [svg("text", { x: x(i), y: height - 12, "text-anchor": "middle" }, String(i + 1))]));
  const end = ended ? [svg("line", { class: "t-end", x1: x(replay.turns.length), x2: x(replay.turns.length), y1: top, y2: height - bottom })] : [];
  const area = points.length ? [svg("polygon", { class: "t-area", points: `${x(0)},${y(0)} ${points.join(" ")} ${x(points.length - 1)},${y(0)}` }), svg("polyline", { class: "t-line", points: points.join(" ") })] : [];
  const said = `${replay.turns.length} turns in a window of ${whole(replay.window)} tokens, ${replay.fires.length} fires${ended ? "; the session overflowed" : ""}`;
  return svg("svg", { class: "timeline", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said },
    area, across(replay.window, "t-window", whole(replay.window)), ...marks.map((mark) => across(mark * replay.window, "t-mark", named.includes(mark) ? mark.toFixed(2) : "")),
    across(0, "t-window", "0"), fires, cut, end, ticks);
}

function firesTable(replay) {
  const heads = [["turn", "num"], ["mark", "num"], ["strategy", "word"], ["outcome", "word"], ["tokens before", "num"], ["tokens after", "num"], ["reason", "word"]];
  const number = (n, text) => el("td", { class: "num", "data-n": n }, text);
  const rows = replay.fires.map(([turn, mark, strategy, forced, outcome, reason, before, after]) => el("tr", {},
    el("th", { scope: "row", "data-n": turn + 1 }, whole(turn + 1)), number(mark, forced ? "forced" : mark.toFixed(2)), el("td", { class: "word" }, strategy),
    el("td", { class: "word" }, outcome), number(before, whole(before)), number(after, whole(after)), el("td", { class: "word" }, reason)));
  const table = el("table", { class: "sorts" }, el("caption", { class: "unseen" }, "Fires"),
    el("thead", {}, el("tr", {}, heads.map(([name, kind]) => el("th", { scope: "col", class: kind }, el("button", { type: "button" }, name))))), el("tbody", {}, rows));
  sortable(table);
  return el("div", { class: "wide low", tabindex: 0, role: "region", "aria-label": "Fires, table" }, table);
}

function replays(root) {
  const all = data("replays");
  const fired = (replay) => replay.fires.filter((fire) => fire[4] === "applied").length;
  const most = (list, of) => list.reduce((best, one, i) => (of(one) > of(list[best]) ? i : best), 0);
  const chosen = { session: most(all, (one) => Math.max(...one.replays.map(fired))), replay: 0 };
  chosen.replay = most(all[chosen.session].replays, fired);
  const [session, policy] = ["session", "replay"].map((name) => root.querySelector(`[name=${name}]`));
  function draw() {
    const one = all[chosen.session];
    chosen.replay = Math.min(chosen.replay, one.replays.length - 1);
    options(session, all.map((each, i) => [String(i), each.title ? `${each.name}: ${each.title}` : each.name]), String(chosen.session));
    options(policy, one.replays.map((each, i) => [String(i), each.name]), String(chosen.replay));
    const replay = one.replays[chosen.replay];
    const over = replay.end === null ? "" : ` It overflows before message ${whole(replay.end)}.`;
    root.querySelector(".case h3").textContent = one.title || one.name;
    root.querySelector(".case p").textContent = `${replay.name}: ${whole(replay.turns.length)} turns, ${whole(replay.fires.length)} fires, ${whole(fired(replay))} applied.${over}`;
    root.querySelector(".drawn").replaceChildren(timeline(replay));
    root.querySelector(".fired").replaceChildren(...(replay.fires.length ? [firesTable(replay)] : [el("p", { class: "note" }, "Nothing was fired.")]));
  }
  session.addEventListener("change", (event) => { chosen.session = Number(event.target.value); draw(); });
  policy.addEventListener("change", (event) => { chosen.replay = Number(event.target.value); draw(); });
  draw();
}

if (at("replays-view")) replays(at("replays-view"));
