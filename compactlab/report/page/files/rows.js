// The rows of a story: a message before the cut and beside it what became of it; behind the cut, who needed facts.
const ROLE = { user: "person", assistant: "agent", system: "system", tool: "tool" };

function block(session, entry, marks, pattern) {
  const [kind, note, text, digest] = entry;
  const name = [kind === "text" ? "" : kind, note].filter(Boolean).join(", ");
  const head = name ? el("span", { class: "kind" }, name) : null;
  if (digest !== undefined) {
    return el("div", { class: `block is-${kind}` }, head, el("span", { class: "digest" }, `${whole(text)} characters · ${digest}`));
  }
  const words = session.texts[text];
  const all = [...marks, ...hits(words, pattern, 200)];
  return el("div", { class: `block is-${kind}` }, head, words ? shown(words, all) : null);
}

function who(message, number, isWritten) {
  const [role, tokens, flags] = message;
  const said = role === "user" && flags & 1 ? "harness" : ROLE[role];
  const more = isWritten ? [] : [flags & 1 && role !== "user" ? "synthetic" : null, flags & 2 ? "pinned" : null].filter(Boolean);
  return [
    el("b", {}, isWritten ? `as ${role}` : number === null ? said : `${number} ${said}`),
    el("span", { class: "tokens" }, `${whole(tokens)} tokens`),
    ...more.map((word) => el("span", {}, word)),
  ];
}

function chip(fact, verdict, says, act) {
  const [family, value] = fact;
  return el("button", { type: "button", class: `fact ${verdict}`, title: `${family} ${value}`, on: { click: act } },
    `${says} `, el("bdi", {}, value));
}

// Facts of a message: the lost ones first; kept ones fold away where there are many.
const SHOWN = 4;
function chips(facts, needed, says, act) {
  const made = facts.map(({ fact, i }) => ({ verdict: needed[i] || "b", item: el("li", {}, chip(fact, needed[i] || "b", says(fact, VERDICT[needed[i]] || "needed"), () => act(fact))) }));
  const well = made.filter((one) => one.verdict === "b").map((one) => one.item);
  const rest = made.filter((one) => one.verdict !== "b").sort((a, b) => WEIGHT[b.verdict] - WEIGHT[a.verdict]).map((one) => one.item);
  if (!made.length) return [];
  if (well.length <= SHOWN) return [el("ul", { class: "facts" }, rest, well)];
  return [rest.length ? el("ul", { class: "facts" }, rest) : null,
    el("details", { class: "rest" }, el("summary", {}, `${well.length} kept`), el("ul", { class: "facts" }, well))];
}

function marksOf(facts, needed, mark) {
  const byBlock = new Map();
  for (const { fact, i } of facts) {
    if (!fact[mark]) continue;
    const [number, start, end] = fact[mark];
    const verdict = needed[i] || "b";
    const title = `${VERDICT[verdict]}: ${fact[0]}`;
    byBlock.set(number, [...(byBlock.get(number) || []), { start, end, kind: verdict, title }]);
  }
  return byBlock;
}

function blocksOf(session, message, marks, pattern) {
  return message[4].map((entry, i) => block(session, entry, marks.get(i) || [], pattern));
}

// Values of kept facts in text that a strategy wrote, so that one sees how they stand there.
function keptIn(session, message, facts, needed) {
  const marks = new Map();
  message[4].forEach((entry, i) => {
    if (entry[3] !== undefined) return;
    const words = session.texts[entry[2]];
    const found = facts.flatMap((fact, n) => {
      const start = "bl".includes(needed[n] || "-") ? words.indexOf(fact[1]) : -1;
      return start < 0 ? [] : [{ start, end: start + fact[1].length, kind: needed[n], title: VERDICT[needed[n]] }];
    });
    if (found.length) marks.set(i, found);
  });
  return marks;
}

function says(message, session, pattern) {
  return message[4].some((entry) => entry[3] === undefined && has(session.texts[entry[2]], pattern));
}
