// Sort tables by a click on a column's head: numbers by value, everything else as text.
"use strict";
for (const table of document.querySelectorAll("table.data, table.scorecard")) {
  if (table.querySelectorAll("tbody tr").length < 3) continue;
  for (const head of table.tHead.rows[table.tHead.rows.length - 1].cells) {
    if (!head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.append(head.firstChild); // explanations of the name stay below the button
    head.prepend(button);
    button.addEventListener("click", () => sort(table, head));
  }
}
const NUMBER = /^(?:about |[<×÷ ])*(-?\d[\d,]*(?:\.\d+)?)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(e[-+]?\d+))?/;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
// Only a number at the beginning of a cell counts, not a year inside a text or the end of an id.
function key(row, column) {
  const cell = row.cells[column];
  const text = cell ? cell.dataset.value ?? cell.textContent.trim() : "";
  const [match, digits, raised, exponent] = text.match(NUMBER) ?? [];
  if (match === undefined) return text;
  const power = [...(raised ?? "")].map((digit) => (digit === "⁻" ? "-" : RAISED.indexOf(digit))).join("");
  return Number(`${digits.replaceAll(",", "")}${raised ? `e${power}` : exponent ?? ""}`);
}
function sort(table, head) {
  const falling = head.getAttribute("aria-sort") !== "descending";
  for (const cell of head.parentNode.cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  for (const body of table.tBodies) { // sort each body of the table separately
    const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
    rows.sort(([a], [b]) => {
      if (typeof a === typeof b) return (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1);
      return typeof a === "number" ? -1 : 1; // texts come after numbers
    });
    body.append(...rows.map(([, row]) => row));
  }
}
