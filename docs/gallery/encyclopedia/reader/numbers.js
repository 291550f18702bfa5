// Table of the critics' scores of a text.
"use strict";

const Numbers = (() => {
  const make = Marks.element;

  const format = (value) => (value > 1e300 ? "∞" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  // Round down, so that less than all never reads as 100 %.
  const percent = (index, critic, row) => `${Math.floor((100 * index.below[critic][row]) / Math.max(1, index.real[critic]))} %`;

  // `omitted`: critics of the corpus that did not evaluate this system.
  function table(run, system, omitted, index, row) {
    const node = make("table", "scores");
    node.append(make("caption", "", `Scores by the critics. ${Flags.explain(run)}`));
    const head = node.createTHead().insertRow();
    const others = system.control ? "other real texts" : "real texts";
    for (const name of ["critic", "score", `larger than, of ${others}`, "unlike real text", "marks"]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = node.createTBody();
    for (const critic of system.critics) {
      const line = body.insertRow();
      const name = make("th", "", critic);
      name.scope = "row";
      name.append(make("span", "", run.critics[critic].score));
      line.append(name);
      const score = index.scores[critic][row];
      const { unit } = run.critics[critic];
      if (score === null) {
        line.append(make("td", "", "no score"), ...["–", "–", "–"].map((text) => make("td", "", text)));
        continue;
      }
      line.append(make("td", "", `${format(score)} ${unit}`));
      line.append(make("td", "", largerThan(index, critic, row)));
      line.append(make("td", "", Flags.describe(index, critic, row)));
      line.append(make("td", "", run.critics[critic].marks ? String(index.marks[critic][row]) : "–"));
    }
    if (omitted.length) {
      const cell = make("td", "", `not evaluated by: ${omitted.join(", ")}`);
      cell.colSpan = 5;
      node.createTFoot().insertRow().append(cell);
    }
    return node;
  }

  function largerThan(index, critic, row) {
    const real = index.real[critic].toLocaleString("en");
    return index.below[critic][row] >= index.real[critic] ? `all ${real}` : `${percent(index, critic, row)} of ${real}`;
  }

  return { format, percent, table };
})();
