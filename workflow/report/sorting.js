// Tables sort by a click on a column's head: numbers by their value, everything else as text.
"use strict";
for (const table of document.querySelectorAll("table.data, table.scorecard")) {
  if (table.querySelectorAll("tbody tr").length < 3) continue;
  for (const head of table.tHead.rows[table.tHead.rows.length - 1].cells) {
    if (!head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.append(head.firstChild); // what explains a name stands below the button
    head.prepend(button);
    button.addEventListener("click", () => sort(table, head));
  }
}
const NUMBER = /^(?:about |[<×÷ ])*(-?\d[\d,]*(?:\.\d+)?)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(e[-+]?\d+))?/;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
// A number that a cell begins with: a year in a text, or what an id ends with, is none.
function key(row, column) {
  const cell = row.cells[column];
  const text = cell ? cell.dataset.value ?? cell.textContent.trim() : "";
  const [found, digits, raised, exponent] = text.match(NUMBER) ?? [];
  if (found === undefined) return text;
  const power = [...(raised ?? "")].map((one) => (one === "⁻" ? "-" : RAISED.indexOf(one))).join("");
  return Number(`${digits.replaceAll(",", "")}${raised ? `e${power}` : exponent ?? ""}`);
}
function sort(table, head) {
  const falling = head.getAttribute("aria-sort") !== "descending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  for (const body of table.tBodies) { // each part of a table by itself
    const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
    rows.sort(([a], [b]) => {
      if (typeof a === typeof b) return (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1);
      return typeof a === "number" ? -1 : 1; // what has no number comes last
    });
    body.append(...rows.map(([, row]) => row));
  }
}
