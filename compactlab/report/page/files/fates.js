// What a pass made of what stood before the cut: by position its fate, and what was put in between.
const VERDICT = { b: "kept", l: "kept, but bare", m: "changed", x: "lost" };

function unrolled(stretches) {
  return stretches.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

function fates(cut, pass) {
  const fate = cut.base.map(() => ({ kind: "dropped" }));
  const made = new Map();
  let behind = -1;
  for (const [kind, one, other] of pass.left) {
    if (kind === "k") {
      for (let i = one; i <= other; i++) fate[i] = { kind: "kept" };
      behind = other;
    } else if (kind === "e") fate[(behind = one)] = { kind: "edited", message: other };
    else made.set(behind, [...(made.get(behind) || []), one]);
  }
  for (const i of pass.restored) if (fate[i]) fate[i].restored = true;
  return { fate, made };
}

const LETTER = { kept: "k", edited: "e", dropped: "d", made: "m" };
// The history as a strip, on one scale for all strategies: pieces of one fate, as wide as their tokens; what was written
// lies over the place where it stands; ticks below where facts were lost.
function strip(session, cut, pass) {
  const { fate, made } = fates(cut, pass);
  const pieces = [], written = [], starts = [];
  let x = 0;
  for (let i = -1; i < fate.length; i++) {
    if (i >= 0) {
      const tokens = session.messages[cut.base[i]][1], last = pieces[pieces.length - 1];
      starts.push(x);
      if (last && last.kind === fate[i].kind) last.tokens += tokens;
      else pieces.push({ kind: fate[i].kind, tokens, x });
      x += tokens;
    }
    const tokens = (made.get(i) || []).reduce((sum, number) => sum + session.messages[number][1], 0);
    if (tokens) written.push({ kind: "made", tokens, x });
  }
  const scale = 1000 / Math.max(1, x);
  const bars = [...pieces, ...written].map((piece) => {
    const width = Math.max(piece.tokens * scale, piece.kind === "made" ? 4 : 0.5);
    const inset = piece.kind === "dropped" ? 4 : 1;
    return svg("rect", { class: `bar-${LETTER[piece.kind]}`, x: piece.x * scale, y: inset, width, height: 14 - 2 * inset });
  });
  const gone = cut.facts.filter((fact, i) => fact[6] !== null && "xm".includes(pass.needed[i] || "-"));
  const ticks = [...new Set(gone.map((fact) => fact[6]))].map((home) =>
    svg("rect", { class: "bar-x", x: starts[home] * scale, y: 13.5, width: 3, height: 4.5 }));
  return svg("svg", { viewBox: "0 0 1000 18", preserveAspectRatio: "none", "aria-hidden": "true" }, bars, ticks);
}

const tally = (pass) => [...pass.needed].filter((verdict) => "xm".includes(verdict)).length;

function share(pass) {
  if (pass.outcome === "failed") return "failed";
  return `${Math.round((100 * pass.after) / Math.max(1, pass.before))}% · ${tally(pass)} lost`;
}
