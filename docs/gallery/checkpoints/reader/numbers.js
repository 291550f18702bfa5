// Table of the critics' scores of a text.
"use strict";

const Numbers = (() => {
  const make = Marks.element;

  const format = (value) => (value > 1e300 ? "∞" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const withUnit = (value, unit) => [format(value), unit].filter(Boolean).join(" ");
  // Round down, so that less than all never reads as 100 %.
  const floor = (below, real) => `${Math.floor((100 * below) / Math.max(1, real))} %`;
  const percent = (index, critic, row) => floor(index.below[critic][row], index.real[critic]);

  // `omitted`: critics of the corpus that did not evaluate this system.
  function table(run, system, omitted, index, row) {
    const node = make("table", "scores");
    node.append(make("caption", "", `Scores by the critics. ${Flags.explain(run)}`));
    const head = node.createTHead().insertRow();
    for (const name of ["critic", "score", `larger than, of ${others(system)}`, "unlike real text", "marks"]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = node.createTBody();
    for (const critic of system.critics) {
      const line = body.insertRow();
      const name = make("th", "", critic);
      name.scope = "row";
      const { marks } = run.critics[critic];
      name.append(make("span", "", `${run.critics[critic].score}${marks ? `. Marks: ${marks}` : ""}`));
      line.append(name);
      const lines = Object.entries(index.numbers[critic]).map(([number, values]) => further(run.critics[critic], number, values, row));
      const score = index.scores[critic][row];
      const { unit } = run.critics[critic];
      if (score === null) {
        line.append(make("td", "", "no score"), ...["–", "–", "–"].map((text) => make("td", "", text)));
        body.append(...lines);
        continue;
      }
      line.append(make("td", "", withUnit(score, unit)));
      line.append(make("td", "", largerThan(index, critic, row)));
      line.append(make("td", "", Flags.describe(index, critic, row)));
      line.append(make("td", "", run.critics[critic].marks ? String(index.marks[critic][row]) : "–"));
      body.append(...lines);
    }
    if (omitted.length) {
      const cell = make("td", "", `not evaluated by: ${omitted.join(", ")}`);
      cell.colSpan = 5;
      node.createTFoot().insertRow().append(cell);
    }
    return node;
  }

  // The table behind a line with the score that texts are sorted by.
  function folded(run, system, omitted, index, row, by) {
    const node = make("details", "all-scores");
    const score = by && system.critics.includes(by) ? index.scores[by][row] : null;
    const { unit } = run.critics[by] ?? {};
    const first = score === null ? "" : `${by}: ${withUnit(score, unit)}, larger than ${largerThan(index, by, row)} ${others(system)} · `;
    node.append(make("summary", "", `${first}all scores`), table(run, system, omitted, index, row));
    return node;
  }

  const others = (system) => (system.control ? "other real texts" : "real texts");

  // Line of a further number of a critic, which has neither flags nor marks.
  function further(about, number, { values, below, real }, row) {
    const line = make("tr", "further");
    const name = make("th", "", about.quantities[number] ?? number);
    name.scope = "row";
    const value = values[row];
    const cells = value === null ? ["none", "–"] : [format(value), share(below[row], real)];
    line.append(name, ...[...cells, "–", "–"].map((text) => make("td", "", text)));
    return line;
  }

  const largerThan = (index, critic, row) => share(index.below[critic][row], index.real[critic]);
  const share = (below, real) => (below >= real ? `all ${real.toLocaleString("en")}` : `${floor(below, real)} of ${real.toLocaleString("en")}`);

  return { format, percent, folded };
})();
