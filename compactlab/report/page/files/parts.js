// Small pieces that the others are made of. Text from the data reaches the page as text nodes alone.
const at = (id) => document.getElementById(id);
const data = (id) => JSON.parse(at(id).textContent);
const whole = (n) => n.toLocaleString("en-US");

function el(tag, props, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name === "class") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child != null));
  return made;
}

function svg(tag, props, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props || {})) made.setAttribute(name, value);
  made.append(...children.flat().filter((child) => child != null));
  return made;
}

function options(select, names, chosen) {
  select.replaceChildren(...names.map(([value, name]) => el("option", { value, selected: value === chosen }, name)));
  select.value = chosen;
}

// A pattern that finds what was typed, whatever its case; null for nothing.
function sought(text) {
  const typed = text.trim();
  if (!typed) return null;
  return new RegExp(typed.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/gu, "\\s+"), "giu");
}

function hits(text, pattern, most) {
  const found = [];
  if (!pattern) return found;
  pattern.lastIndex = 0;
  for (let one = pattern.exec(text); one && found.length < most; one = pattern.exec(text)) {
    found.push({ start: one.index, end: one.index + one[0].length, kind: "hit" });
    if (!one[0].length) pattern.lastIndex += 1;
  }
  return found;
}

const has = (text, pattern) => hits(text, pattern, 1).length > 0;

// Marks that do not overlap: of two the one that matters more stays.
const WEIGHT = { hit: 5, x: 4, m: 3, l: 2, b: 1 };
function apart(marks) {
  const kept = [];
  for (const mark of [...marks].sort((a, b) => WEIGHT[b.kind] - WEIGHT[a.kind] || a.start - b.start)) {
    if (kept.every((other) => mark.end <= other.start || mark.start >= other.end)) kept.push(mark);
  }
  return kept.sort((a, b) => a.start - b.start);
}

// Which stretches of a long text are shown: its beginning, and what stands around each mark.
const BEGINNING = 360, AROUND = 110, NOT_WORTH = 240;
function windows(text, marks) {
  const wanted = [[0, BEGINNING], ...marks.map((mark) => [mark.start - AROUND, mark.end + AROUND])];
  const joined = [];
  for (const [start, end] of wanted.sort((a, b) => a[0] - b[0])) {
    const last = joined[joined.length - 1];
    if (last && start <= last[1] + NOT_WORTH) last[1] = Math.max(last[1], end);
    else joined.push([Math.max(0, start), end]);
  }
  for (const one of joined) {
    one[1] = Math.min(one[1], text.length);
    if (one[0] && low(text, one[0])) one[0] -= 1;
    if (low(text, one[1])) one[1] += 1;
  }
  const last = joined[joined.length - 1];
  if (text.length - last[1] < NOT_WORTH) last[1] = text.length;
  return joined;
}
const low = (text, i) => text.charCodeAt(i) >= 0xdc00 && text.charCodeAt(i) < 0xe000;

function marked(text, marks, start, end) {
  const parts = [];
  let done = start;
  for (const mark of marks) {
    if (mark.end <= start || mark.start >= end) continue;
    const from = Math.max(mark.start, done), to = Math.min(mark.end, end);
    if (from > done) parts.push(text.slice(done, from));
    parts.push(el("mark", { class: mark.kind, title: mark.title }, text.slice(from, to)));
    done = to;
  }
  if (done < end) parts.push(text.slice(done, end));
  return parts;
}

// A text with its marks, shortened to what is worth a look, and a button that shows it all.
function shown(text, given) {
  const marks = apart(given);
  const place = el("span", { class: "text" });
  const pieces = windows(text, marks);
  const parts = pieces.flatMap(([start, end], i) => {
    const before = i ? pieces[i - 1][1] : 0;
    const gap = start > before ? el("span", { class: "gap" }, ` … ${whole(start - before)} characters … `) : null;
    return [gap, ...marked(text, marks, start, end)];
  });
  const last = pieces[pieces.length - 1][1];
  if (last < text.length) parts.push(el("span", { class: "gap" }, " …"));
  place.append(...parts.filter((part) => part != null));
  if (pieces.length === 1 && last === text.length) return [place];
  const all = () => {
    place.replaceChildren(...marked(text, marks, 0, text.length));
    more.remove();
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  };
  const more = el("button", { type: "button", class: "more", on: { click: all } }, `Show all ${whole(text.length)} characters`);
  return [place, more];
}
