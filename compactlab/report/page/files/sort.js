// Tables sort by a click on a heading: numbers as numbers, the most first; words from A; a third click as it was.
function value(cell) {
  return cell.dataset.n === undefined ? null : Number(cell.dataset.n);
}

function compare(column, isWord, sign) {
  return (a, b) => {
    const [one, other] = [a.cells[column], b.cells[column]];
    if (isWord) return sign * one.textContent.localeCompare(other.textContent, "en", { numeric: true });
    const [x, y] = [value(one), value(other)];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (x - y);
  };
}

function sortable(table) {
  const body = table.tBodies[0], order = [...body.rows], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const isWord = head.classList.contains("word");
    const turns = isWord ? ["ascending", "descending", null] : ["descending", "ascending", null];
    head.querySelector("button").addEventListener("click", () => {
      const next = turns[(turns.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next) head.setAttribute("aria-sort", next);
      const sorted = [...order];
      if (next) sorted.sort(compare(column, isWord, next === "ascending" ? 1 : -1));
      body.replaceChildren(...sorted);
    });
  });
}

document.querySelectorAll("table.sorts").forEach(sortable);
