// Flags of texts as unlike real text.
"use strict";

const Flags = (() => {
  const SIGN = "⚑";

  const isFlagged = (index, critic, row) => (index.flagged[critic] || []).includes(row);
  const count = (index, critic) => (index.flagged[critic] || []).length;

  // Real texts are not flagged: a p-value of theirs would compare them with each other.
  function describe(index, critic, row) {
    if (!index.p[critic]) return "–";
    const p = `p\u00a0=\u00a0${Number(index.p[critic][row].toPrecision(2))}`;
    return isFlagged(index, critic, row) ? `${SIGN} flagged (${p})` : `not flagged (${p})`;
  }

  // A collection may be unlike real text although none of its texts stands out: say both numbers side by side.
  function summarise(system, index, critic) {
    const auc = system.detectability[critic];
    const pairs = auc === undefined ? "" : ` As a whole, ${critic} picks the system's text in ${Math.round(100 * auc)} % of pairs with a real one (50 % is chance).`;
    return `${SIGN} ${count(index, critic).toLocaleString("en")} flagged as unlike real text each by itself.${pairs}`;
  }

  const explain = (run) =>
    `${SIGN}: flagged as unlike real text. Of all flags of a system, at most ${Math.round(100 * run.falseFlags)} % are expected to be false.`;

  return { SIGN, isFlagged, summarise, describe, explain };
})();
