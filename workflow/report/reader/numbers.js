// What the critics say of a text, in numbers.
"use strict";

const Numbers = (() => {
  const make = Marks.element;

  const four = (value) => (value > 1e300 ? "∞" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  // Never rounded up to all of them.
  const percent = (index, critic, row) => `${Math.floor((100 * index.below[critic][row]) / Math.max(1, index.real[critic]))} %`;

  // `silent`: critics that judge the corpus, and were not asked of this system.
  function table(run, system, silent, index, row) {
    const made = make("table", "scores");
    made.append(make("caption", "", "What the critics say; a text stands out where its number is larger, or smaller, than those of almost all real texts"));
    const head = made.createTHead().insertRow();
    const others = system.control ? "other real texts" : "real texts";
    for (const name of ["critic", "number", `larger than, of ${others}`, "marks"]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = made.createTBody();
    for (const critic of system.critics) {
      const line = body.insertRow();
      const name = make("th", "", critic);
      name.scope = "row";
      name.append(make("span", "", run.critics[critic].score));
      line.append(name);
      const score = index.scores[critic][row];
      const { unit } = run.critics[critic];
      if (score === null) {
        line.append(make("td", "", "not judged"), make("td", "", "–"), make("td", "", "–"));
        continue;
      }
      line.append(make("td", "", `${four(score)} ${unit}`));
      line.append(make("td", "", largerThan(index, critic, row)));
      line.append(make("td", "", run.critics[critic].marks ? String(index.marks[critic][row]) : "–"));
    }
    if (silent.length) {
      const cell = make("td", "", `not asked: ${silent.join(", ")}`);
      cell.colSpan = 4;
      made.createTFoot().insertRow().append(cell);
    }
    return made;
  }

  function largerThan(index, critic, row) {
    const real = index.real[critic].toLocaleString("en");
    return index.below[critic][row] >= index.real[critic] ? `all ${real}` : `${percent(index, critic, row)} of ${real}`;
  }

  return { four, percent, table };
})();
