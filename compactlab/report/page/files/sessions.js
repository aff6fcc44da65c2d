// The part of the page that goes from session to session.
const SHOWS = [["all", "all messages"], ["changed", "what changed"], ["facts", "messages with needed facts"], ["lost", "messages with lost facts"]];

function sessions(root) {
  const index = data("sessions-index"), held = new Map();
  const get = (i) => held.get(i) || (held.set(i, data(`session-${i}`)), opened(held.get(i)));
  const pick = (name) => root.querySelector(`[name=${name}]`);
  const chosen = { session: Math.max(0, index.findIndex((one) => one.needed.some(Boolean))), cut: 0, pass: "", show: "all", find: "" };
  chosen.cut = Math.max(0, index[chosen.session].needed.findIndex(Boolean));
  const fields = Object.fromEntries(["session", "cut", "pass", "show", "find"].map((name) => [name, pick(name)]));

  function opened(session) {
    for (const cut of session.cuts) cut.base = unrolled(cut.base);
    return session;
  }

  function refill() {
    const session = get(chosen.session);
    chosen.cut = Math.min(chosen.cut, session.cuts.length - 1);
    const names = session.cuts[chosen.cut].passes.map((pass) => pass.name);
    if (!names.includes(chosen.pass)) chosen.pass = names.find((name, i) => session.cuts[chosen.cut].passes[i].outcome === "applied") || names[0];
    options(fields.session, index.map((one, i) => [String(i), one.title ? `${one.name}: ${one.title}` : one.name]), String(chosen.session));
    options(fields.cut, session.cuts.map((cut, i) => [String(i), `${cut.name}, at ${whole(cut.index)}`]), String(chosen.cut));
    options(fields.pass, names.map((name) => [name, name]), chosen.pass);
    options(fields.show, SHOWS, chosen.show);
  }

  function elsewhere(pattern) {
    const place = root.querySelector(".elsewhere");
    const found = !pattern ? [] : index.map((one, i) => ({ name: one.name, i, n: get(i).texts ? get(i).messages.filter((message) => message[3] !== null && says(message, get(i), pattern)).length : 0 }));
    place.replaceChildren(...found.filter((one) => one.n && one.i !== chosen.session).map((one) =>
      el("button", { type: "button", class: "plain", on: { click: () => change({ session: one.i }) } }, `${one.name}: ${whole(one.n)}`)));
  }

  function change(what) {
    const focused = document.activeElement && document.activeElement.dataset.pass;
    Object.assign(chosen, what);
    refill();
    draw();
    if (focused) [...root.querySelectorAll("[data-pass]")].find((one) => one.dataset.pass === focused).focus();
  }

  function strips(session, cut) {
    return cut.passes.map((pass) => el("button", {
      type: "button", class: "strip", "data-pass": pass.name, "aria-pressed": String(pass.name === chosen.pass),
      on: { click: () => change({ pass: pass.name }) },
    }, el("span", { class: "name" }, pass.name), session.missing || pass.outcome === "failed" ? el("span") : strip(session, cut, pass), el("span", { class: "much" }, share(pass))));
  }

  function draw() {
    const session = get(chosen.session), cut = session.cuts[chosen.cut];
    const pass = cut.passes.find((one) => one.name === chosen.pass);
    const pattern = sought(chosen.find);
    const view = { session, cut, pass, pattern, wants: (row) => chosen.show === "all" || row[chosen.show], jump, ...fates(cut, pass) };
    root.querySelector(".case h3").textContent = session.title || session.name;
    const failed = pass.outcome === "applied" ? "" : ` ${pass.name}: ${pass.outcome}${pass.reason ? `, ${pass.reason}` : ""}.`;
    root.querySelector(".case p").textContent = `${session.type}, ${whole(session.length)} messages. Cut before message ${whole(cut.index)}: ${whole(pass.before)} tokens, of ${cut.facts.length} needed facts ${pass.name} loses ${tally(pass)}.${failed}`;
    root.querySelector(".strips").replaceChildren(...strips(session, cut));
    const open = root.querySelector(".asked details").open;
    root.querySelector(".asked").replaceChildren(el("details", { class: "table", open }, el("summary", {}, el("h3", {}, "Facts needed behind this cut"), el("span", { class: "size" }, `${cut.facts.length}, of them ${tally(pass)} lost`)), needsTable(view)));
    story(view);
    elsewhere(pattern);
  }

  function story(view) {
    const { session, cut, pass } = view;
    const place = root.querySelector(".story");
    if (session.missing) {
      place.replaceChildren(el("p", { class: "note" }, `The messages of this session are not shown: ${session.missing}.`));
      root.querySelector(".status").textContent = "";
      return;
    }
    const rows = [...(view.made.get(-1) || []).map((number) => madeRow(view, number))];
    cut.base.forEach((_, i) => rows.push(baseRow(view, i), ...(view.made.get(i) || []).map((number) => madeRow(view, number))));
    const later = view.pattern ? session.messages.slice(cut.index, session.length).filter((message) => says(message, session, view.pattern)).map((message) => message[3]) : [];
    const used = [...new Set([...cut.facts.map((fact) => fact[7]), ...later])].sort((a, b) => a - b).map((position) => useRow(view, position));
    const border = el("p", { class: "border" }, `The cut: message ${whole(cut.index)} is next.`,
      el("span", {}, "What follows is what was recorded then, where facts from before were needed."));
    place.replaceChildren(el("div", { class: "heads" }, el("span", {}, `What stood before: ${whole(pass.before)} tokens`), el("span", {}, `${pass.name}: ${whole(pass.after)} tokens`)),
      ...rows.map((one) => one.row), border, ...used.map((one) => one.row));
    lost = [...rows, ...used].filter((one) => one.lost && !one.row.hidden).map((one) => one.row);
    for (const button of root.querySelectorAll("[data-step]")) button.disabled = !lost.length;
    const seen = [...rows, ...used].filter((one) => !one.row.hidden).length;
    root.querySelector(".status").textContent = view.pattern ? `${whole(seen)} messages found here.` : chosen.show === "all" ? "" : `${whole(seen)} of ${whole(rows.length + used.length)} messages shown.`;
  }

  let lost = [], step = -1;
  function jump(id) {
    const row = at(id);
    if (!row) return;
    row.hidden = false;
    row.scrollIntoView({ block: "start" });
    row.focus({ preventScroll: true });
  }
  function go(by) {
    const here = lost.indexOf(document.activeElement && document.activeElement.closest(".row"));
    step = (((here >= 0 ? here : step) + by) % lost.length + lost.length) % lost.length;
    jump(lost[step].id);
  }

  fields.session.addEventListener("change", (event) => { step = -1; change({ session: Number(event.target.value) }); });
  fields.cut.addEventListener("change", (event) => { step = -1; change({ cut: Number(event.target.value) }); });
  fields.pass.addEventListener("change", (event) => { step = -1; change({ pass: event.target.value }); });
  fields.show.addEventListener("change", (event) => change({ show: event.target.value }));
  let waiting = 0;
  fields.find.addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ find: event.target.value }), 150);
  });
  root.querySelectorAll("[data-step]").forEach((button) => button.addEventListener("click", () => go(Number(button.dataset.step))));
  const hasTexts = get(0).missing || get(0).texts.length;
  fields.find.closest("label").hidden = !hasTexts;
  refill();
  draw();
}

if (at("sessions")) sessions(at("sessions"));
