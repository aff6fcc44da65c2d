// One case: a session at a cut under a strategy.
const FATE = {
  kept: "kept as it was",
  dropped: "dropped",
};

function baseRow(view, i) {
  const { session, cut, pass, pattern } = view;
  const number = cut.base[i], message = session.messages[number], fate = view.fate[i];
  const facts = cut.facts.map((fact, n) => ({ fact, i: n })).filter(({ fact }) => fact[6] === i);
  const lost = facts.some((one) => "xm".includes(pass.needed[one.i] || "-"));
  const told = chips(facts, pass.needed, (fact, verdict) => `${verdict}, needed by ${fact[7]}:`, (fact) => view.jump(`use-${fact[7]}`));
  const before = el("div", { class: "before" }, el("div", { class: "who" }, ...who(message, message[3])),
    ...told,
    ...blocksOf(session, message, marksOf(facts, pass.needed, 10), pattern));
  const after = el("div", { class: "after" });
  if (fate.kind === "edited") {
    const edited = session.messages[fate.message];
    after.append(el("span", { class: "fate" }, `edited to ${whole(edited[1])} tokens`),
      ...blocksOf(session, edited, keptIn(session, edited, cut.facts, pass.needed), pattern));
  } else after.append(el("span", { class: "fate" }, fate.restored ? "put back by the guard" : FATE[fate.kind]));
  const row = el("div", { class: `row ${fate.kind}`, id: `home-${i}`, tabindex: -1 }, before, after);
  const found = !pattern || says(message, session, pattern) || (fate.kind === "edited" && says(session.messages[fate.message], session, pattern))
    || facts.some(({ fact }) => has(fact[1], pattern));
  row.hidden = !found || !view.wants({ changed: fate.kind !== "kept", facts: facts.length > 0, lost });
  return { row, lost };
}

function madeRow(view, number) {
  const { session, cut, pass, pattern } = view;
  const message = session.messages[number];
  const row = el("div", { class: "row made", tabindex: -1 }, el("div", { class: "before" }),
    el("div", { class: "after" }, el("div", { class: "who" }, el("span", { class: "fate" }, "written"), ...who(message, null, true)),
      ...blocksOf(session, message, keptIn(session, message, cut.facts, pass.needed), pattern)));
  row.hidden = (pattern && !says(message, session, pattern)) || !view.wants({ changed: true, facts: false, lost: false });
  return { row, lost: false };
}

function useRow(view, position) {
  const { session, cut, pass, pattern } = view;
  const message = session.messages[position];
  const facts = cut.facts.map((fact, n) => ({ fact, i: n })).filter(({ fact }) => fact[7] === position);
  const lost = facts.some((one) => "xm".includes(pass.needed[one.i] || "-"));
  const told = chips(facts, pass.needed, (fact, verdict) => {
    const home = fact[6] === null ? null : session.messages[cut.base[fact[6]]][3];
    return `${verdict}${home === null ? "" : `, stood in ${home}`}:`;
  }, (fact) => fact[6] !== null && view.jump(`home-${fact[6]}`));
  const count = facts.length === 1 ? "needed a fact" : facts.length ? `needed ${facts.length} facts` : "needed no fact from before";
  const row = el("div", { class: "row later", id: `use-${position}`, tabindex: -1 },
    el("div", { class: "before" }, el("div", { class: "who" }, ...who(message, position)),
      ...blocksOf(session, message, marksOf(facts, pass.needed, 11), pattern)),
    el("div", { class: "after" }, el("span", { class: "fate" }, count), ...told));
  const found = !pattern || says(message, session, pattern) || facts.some(({ fact }) => has(fact[1], pattern));
  row.hidden = !found || !view.wants({ changed: true, facts: true, lost });
  return { row, lost };
}

function needsTable(view) {
  const { cut, pass, session, pattern } = view;
  const heads = [["verdict", "word"], ["family", "word"], ["fact", "word"], ["stood in", "num"], ["needed by", "num"], ["use", "word"], ["to be had again", "word"], ["age", "num"]];
  const rows = cut.facts.map((fact, i) => {
    if (pattern && ![1, 8, 9].some((n) => has(fact[n], pattern))) return null;
    const verdict = pass.needed[i] || "b";
    const home = fact[6] === null ? null : (session.messages[cut.base[fact[6]]] || [])[3];
    const act = () => fact[6] !== null && view.jump(`home-${fact[6]}`);
    const number = (n) => el("td", { class: "num", "data-n": n }, n === null || n === undefined ? "-" : whole(n));
    return el("tr", {}, el("th", { scope: "row" }, pass.needed[i] ? VERDICT[verdict] : "-"), el("td", { class: "word" }, fact[0]),
      el("td", { class: "word" }, chip(fact, verdict, "", act)), number(home), number(fact[7]),
      el("td", { class: "word" }, fact[2]), el("td", { class: "word" }, fact[3] === "irrecoverable" ? "no" : "by a call"), number(fact[5]));
  }).filter(Boolean);
  const table = el("table", { class: "sorts needs" }, el("caption", { class: "unseen" }, "Facts needed behind the cut"),
    el("thead", {}, el("tr", {}, heads.map(([name, kind]) => el("th", { scope: "col", class: kind }, el("button", { type: "button" }, name))))),
    el("tbody", {}, rows));
  sortable(table);
  return el("div", { class: "wide low", tabindex: 0, role: "region", "aria-label": "Facts needed behind the cut, table" }, table);
}
