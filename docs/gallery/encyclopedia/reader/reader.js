// State and rendering of the page. The content follows from the address alone: #<corpus>/<system>/<id>?by=<critic> sorts by
// largest score, ?by=-<critic> by smallest score, and an empty "by=" keeps the order in which texts were generated.
"use strict";

(() => {
  const at = (id) => document.getElementById(id);
  const make = Marks.element;
  const MOST_NOTES = 30; // marks listed below a text
  const state = { run: null, system: null, by: null, rising: false, index: null, row: -1, real: null, realRow: -1, matches: null, off: new Set(), open: false };
  // `by`: critic to sort by, or "". `rising`: smallest score first. `off`: critics with hidden marks; a link with a critic shows its marks alone.
  // `open`: whether the tables of scores are unfolded.
  let list = null;
  let latest = 0; // number of the latest request: results of earlier ones are discarded

  // ---- the address -------------------------------------------------------------------------------------------------

  function address(system, id, order) {
    const parts = [...system.key.split("/"), ...(id === null ? [] : [id])].map(encodeURIComponent).join("/");
    return `#${parts}${order === null ? "" : `?by=${encodeURIComponent(order)}`}`;
  }

  function parsed() {
    const [path, query] = location.hash.slice(1).split("?");
    let parts;
    try {
      parts = path.split("/").map(decodeURIComponent);
    } catch {
      parts = [];
    }
    const system = state.run.systems.find((entry) => entry.key === parts.slice(0, 2).join("/"));
    const order = new URLSearchParams(query || "").get("by");
    const rising = order !== null && order.startsWith("-");
    const by = rising ? order.slice(1) : order;
    return { system, id: parts.length > 2 ? parts.slice(2).join("/") : null, by, rising, isGiven: path !== "" };
  }

  // In the form of the address.
  const orderNow = () => (state.rising ? `-${state.by}` : state.by);

  function go(system, id, order) {
    const next = address(system, id, order);
    if (next === location.hash) follow();
    else location.hash = next;
  }

  async function follow() {
    const wanted = parsed();
    const mine = ++latest;
    const here = location.hash;
    // A new address is followed when its event arrives; until then, do not overwrite it.
    const late = () => mine !== latest || location.hash !== here;
    const system = wanted.system || firstEvaluated();
    if (wanted.isGiven && !wanted.system) say(`There are no texts at ${decodeURIComponentSafely(location.hash)}; showing others.`);
    else say("");
    try {
      const index = await macroscope.indexOf(system.key);
      const real = await macroscope.indexOf(controlOf(system).key);
      if (late()) return;
      if (state.system === null && wanted.by && state.run.critics[wanted.by]?.marks)
        state.off = new Set(Object.keys(state.run.critics).filter((name) => name !== wanted.by));
      enter(system, index, real, wanted);
      const row = wanted.id === null ? -1 : index.ids.indexOf(wanted.id);
      if (wanted.id !== null && row < 0) say(`There is no text "${wanted.id}" of this system.`);
      await read(row < 0 ? list.rows[0] : row, late);
    } catch (error) {
      say(error.message);
    }
  }

  // Begin with a system instead of real text.
  const firstEvaluated = () => state.run.systems.find((entry) => !entry.control && entry.critics.length && entry.texts) || state.run.systems[0];

  function decodeURIComponentSafely(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  // ---- selection and order of the texts ----------------------------------------------------------------------------

  const controlOf = (system) => state.run.systems.find((entry) => entry.corpus === system.corpus && entry.control);
  const critics = () => state.system.critics; // the clearest first
  const clearest = () => critics().find((name) => state.run.critics[name].marks) ?? critics()[0];

  function enter(system, index, real, { by, rising }) {
    const isNew = state.system !== system;
    state.system = system;
    state.index = index;
    state.real = real;
    if (isNew) {
      state.row = -1;
      state.matches = null;
      at("search").value = "";
      at("system").value = system.key;
      at("page").replaceChildren(...pageOf(system));
      const options = critics().flatMap((name) => [
        new Option(`${name}, largest first`, name),
        new Option(`${name}, smallest first`, `-${name}`),
      ]);
      at("order").replaceChildren(...options, new Option("order of generation", ""));
    }
    const order = critics().includes(by) ? by : by === "" || !critics().length ? "" : clearest();
    const smallest = rising && order === by;
    if (isNew || order !== state.by || smallest !== state.rising) {
      state.by = order;
      state.rising = smallest;
      state.off.delete(order);
      renderLegend();
      at("order").value = orderNow();
      renderList();
    }
  }

  // Link to the system's page of the report; real text has none.
  function pageOf(system) {
    if (!system.page) return [];
    const link = make("a", "", `The page of ${system.system}`);
    link.href = system.page;
    return [link];
  }

  const ordered = (index) => {
    const rows = index.ids.map((_, row) => row);
    const scores = state.by ? index.scores[state.by] : null;
    if (!scores) return rows;
    const sign = state.rising ? -1 : 1;
    const value = (row) => (scores[row] === null ? -Infinity : sign * scores[row]); // texts without a score come last
    return rows.sort((a, b) => value(b) - value(a) || a - b || 0);
  };

  function renderList() {
    const words = at("search").value.trim().toLowerCase();
    let rows = ordered(state.index);
    if (state.matches) rows = rows.filter((row) => state.matches.has(row));
    else if (words) {
      const { ids, titles, beginnings } = state.index;
      rows = rows.filter((row) => `${ids[row]}\n${titles[row] || ""}\n${beginnings[row]}`.toLowerCase().includes(words));
    }
    const shown = state.by ? `. Beside each: its score (${state.run.critics[state.by].score}), and the share of real texts with a smaller one` : "";
    const flags = state.by && state.index.p[state.by] ? `. ${Flags.summarise(state.system, state.index, state.by)}` : "";
    at("count").textContent = `${rows.length.toLocaleString("en")} of ${state.index.ids.length.toLocaleString("en")} texts${shown}${flags}`;
    at("list").scrollTop = 0;
    list.show(rows);
    if (state.row >= 0) list.select(state.row);
  }

  const nameOf = (index, row) => index.titles[row] || index.ids[row];
  function described(row) {
    const score = state.by ? state.index.scores[state.by][row] : null;
    const sign = state.by && Flags.isFlagged(state.index, state.by, row) ? `${Flags.SIGN} ` : "";
    const value = !state.by ? "" : score === null ? "no score" : `${sign}${Numbers.format(score)} · ${Numbers.percent(state.index, state.by, row)}`;
    return { title: nameOf(state.index, row), beginning: state.index.beginnings[row], value };
  }

  async function searchEverywhere() {
    const words = at("search").value.trim().toLowerCase();
    const { system, index } = state;
    if (!words) return say("Type a search term first.");
    const mine = (searchEverywhere.last = (searchEverywhere.last || 0) + 1);
    const matches = new Set();
    const total = Math.ceil(index.ids.length / state.run.chunk);
    for (let number = 0; number < total; number++) {
      const chunk = await macroscope.chunkOf(system.key, number);
      if (mine !== searchEverywhere.last || system !== state.system) return;
      chunk.forEach(([sections], place) => {
        const text = sections.map(([title, body]) => `${title || ""}\n${body}`).join("\n").toLowerCase();
        if (text.includes(words)) matches.add(number * state.run.chunk + place);
      });
      if (number % 10 === 0) say(`Searched ${Math.min(index.ids.length, (number + 1) * state.run.chunk).toLocaleString("en")} texts …`);
    }
    state.matches = matches;
    renderList();
    say(`Texts that contain "${words}": ${matches.size.toLocaleString("en")}.`);
  }

  // ---- the selected text ---------------------------------------------------------------------------------------------

  async function read(row, late) {
    if (row === undefined) {
      at("document").replaceChildren(make("p", "message", "No texts."));
      return at("real").replaceChildren();
    }
    const text = await textOf(state.system, row);
    if (late()) return;
    state.row = row;
    list.select(row);
    renderText(at("document"), whose(state.system), state.system, state.index, row, text);
    const id = state.index.ids[row];
    history.replaceState(null, "", address(state.system, id, orderNow()));
    document.title = `${nameOf(state.index, row)} · ${state.system.key}`;
    await readReal(beside(row));
  }

  async function textOf(system, row) {
    const chunk = await macroscope.chunkOf(system.key, Math.floor(row / state.run.chunk));
    return chunk[row % state.run.chunk];
  }

  // Row of the real text paired with a text by id or first words; without one, the middle real text in the current order.
  function beside(row) {
    const pair = state.index.paired[row];
    if (pair !== null) return pair;
    const rows = ordered(state.real);
    return rows[Math.floor((rows.length - 1) / 2)];
  }

  async function readReal(row) {
    if (row === undefined) return;
    const mine = latest;
    const system = controlOf(state.system);
    const text = await textOf(system, row);
    if (mine !== latest) return;
    state.realRow = row;
    const place = ordered(state.real).indexOf(row) + 1;
    const order = `number ${place} of ${state.real.ids.length} ${state.by ? `by ${state.by}` : "in order of generation"}`;
    renderText(at("real"), `${whyReal(row)} (${order}; the keys [ and ] show others)`, system, state.real, row, text);
  }

  const whose = (system) => (system.control ? `Real text of ${system.corpus}` : `Text of ${system.system} on ${system.corpus}`);

  function whyReal(row) {
    if (state.index.paired[state.row] === row) return "Real text with the same id or first words";
    return row === beside(state.row) ? "Real text in the middle of this order" : "Real text";
  }

  function marksOf(system, text) {
    return Object.entries(text[1]).flatMap(([critic, marks]) =>
      state.off.has(critic) || !critics().includes(critic)
        ? []
        : marks.map(([section, start, end, weight, note]) => ({
            critic, section, start, end, weight, note, colour: colourOf(critic),
          })),
    );
  }

  // Real text is evaluated by every critic of its corpus, so colours do not depend on the system.
  const markingCritics = () => controlOf(state.system).critics.filter((name) => state.run.critics[name].marks);
  const colourOf = (critic) => markingCritics().indexOf(critic) % state.run.colours;

  function renderText(pane, kind, system, index, row, text) {
    const marks = marksOf(system, text);
    const heading = make("h2", "", nameOf(index, row));
    heading.dir = "auto";
    const about = make("p", "about");
    if (nameOf(index, row) !== index.ids[row]) about.append(make("bdi", "", index.ids[row]), " · ");
    about.append(index.words[row] ? `${index.words[row].toLocaleString("en")} words · ` : "the text is not here · ");
    const omitted = controlOf(system).critics.filter((critic) => !system.critics.includes(critic));
    const link = make("a", "", "link to this text");
    link.href = address(system, index.ids[row], orderNow());
    about.append(link);
    const sections = text[0].map((section, number) => Marks.section(section, marks.filter((mark) => mark.section === number)));
    const scores = Numbers.folded(state.run, system, omitted, index, row, state.by);
    scores.open = state.open;
    scores.addEventListener("toggle", () => {
      state.open = scores.open;
      for (const other of document.querySelectorAll("details.all-scores")) other.open = state.open;
    });
    pane.replaceChildren(make("p", "kind", kind), heading, about, scores, ...sections, notesOf(text, marks));
    pane.scrollTop = 0;
  }

  function notesOf(text, marks) {
    const node = make("section", "notes");
    if (!marks.length) return node;
    const worst = [...marks].sort((a, b) => b.weight - a.weight).slice(0, MOST_NOTES);
    worst.sort((a, b) => a.section - b.section || a.start - b.start);
    const shown = worst.length < marks.length ? `the ${worst.length} of ${marks.length} with the largest weights` : String(marks.length);
    node.append(make("h3", "", `Marks: ${shown}`));
    const items = make("ol", "");
    for (const mark of worst) {
      const item = make("li", "");
      const swatch = make("span", "swatch");
      swatch.style.backgroundColor = `var(--critic-${mark.colour})`;
      const body = text[0][mark.section][1];
      const quoted = body.slice(mark.start, mark.end);
      item.append(swatch, ` ${Marks.describe(mark)} `);
      if (quoted) {
        const quote = make("q", "", shortened(quoted));
        quote.dir = "auto";
        item.append(quote);
      }
      items.append(item);
    }
    node.append(items);
    return node;
  }

  // Shorten a text to its first words, at most 60 characters.
  function shortened(text) {
    if (text.length <= 60) return text;
    const cut = text.slice(0, 60);
    return `${cut.slice(0, cut.lastIndexOf(" ") > 0 ? cut.lastIndexOf(" ") : 60)} …`;
  }

  function renderLegend() {
    const boxes = markingCritics().filter((critic) => critics().includes(critic)).map((critic) => {
      const label = make("label", "");
      const box = make("input", "");
      box.type = "checkbox";
      box.checked = !state.off.has(critic);
      box.addEventListener("change", () => {
        if (box.checked) state.off.delete(critic);
        else state.off.add(critic);
        rerender();
      });
      const swatch = make("span", "swatch");
      swatch.style.backgroundColor = `var(--critic-${colourOf(critic)})`;
      label.title = `${critic} marks ${state.run.critics[critic].marks}`;
      label.append(box, swatch, ` ${critic}`);
      return label;
    });
    at("legend").replaceChildren(...(boxes.length ? boxes : [make("span", "", "No critic marks these texts.")]));
  }

  async function rerender() {
    if (state.row < 0) return;
    renderText(at("document"), whose(state.system), state.system, state.index, state.row, await textOf(state.system, state.row));
    await readReal(state.realRow);
  }

  // ---- keys --------------------------------------------------------------------------------------------------------

  function stepMark(by) {
    const marks = [...at("document").querySelectorAll("mark")];
    if (!marks.length) return say("No marks in this text.");
    const place = marks.indexOf(document.activeElement);
    const next = place < 0 ? (by > 0 ? 0 : marks.length - 1) : (place + by + marks.length) % marks.length;
    marks[next].focus({ preventScroll: true });
    marks[next].scrollIntoView({ block: "center" });
    say(marks[next].title || marks[next].textContent);
  }

  function stepReal(by) {
    const rows = ordered(state.real);
    const next = rows[rows.indexOf(state.realRow) + by];
    if (next !== undefined) readReal(next);
  }

  const KEYS = {
    j: () => list.step(1),
    k: () => list.step(-1),
    n: () => stepMark(1),
    p: () => stepMark(-1),
    "]": () => stepReal(1),
    "[": () => stepReal(-1),
    "/": () => {
      fold(false);
      at("search").focus();
    },
    r: () => document.body.classList.toggle("alone"),
    "?": () => at("help").click(),
  };

  // Fold the controls; has an effect on small screens only.
  function fold(folded) {
    document.body.classList.toggle("folded", folded);
    at("unfold").setAttribute("aria-expanded", String(!folded));
    if (!folded && state.row >= 0) list.select(state.row); // a hidden list cannot scroll
  }

  function say(text) {
    at("status").textContent = text;
  }

  // ---- start -------------------------------------------------------------------------------------------------------

  macroscope.onRun((run) => {
    state.run = run;
    const groups = new Map();
    const corpora = new Set(run.systems.map((entry) => entry.corpus));
    for (const system of run.systems) {
      if (!groups.has(system.corpus)) {
        const group = make("optgroup", "");
        group.label = system.corpus;
        groups.set(system.corpus, group);
      }
      // A closed menu does not show the group, so name the corpus.
      const where = corpora.size > 1 ? ` on ${system.corpus}` : "";
      const name = `${system.system}${where}${system.control ? " (real text)" : ""}`;
      groups.get(system.corpus).append(new Option(`${name}, ${system.texts.toLocaleString("en")} texts`, system.key));
    }
    at("system").append(...groups.values());
    list = new TextList(at("list"), at("space"), described, (row, byHand) => {
      go(state.system, state.index.ids[row], orderNow());
      if (byHand && matchMedia("(max-width: 760px)").matches) {
        fold(true);
        at("document").scrollIntoView();
      }
    });
    at("system").addEventListener("change", (event) => go(run.systems.find((entry) => entry.key === event.target.value), null, orderNow()));
    at("order").addEventListener("change", (event) => go(state.system, null, event.target.value));
    at("search").addEventListener("input", () => {
      state.matches = null;
      renderList();
    });
    at("everywhere").addEventListener("click", () => searchEverywhere().catch((error) => say(error.message)));
    at("unfold").addEventListener("click", () => fold(!document.body.classList.contains("folded")));
    at("previous").addEventListener("click", KEYS.k);
    at("next").addEventListener("click", KEYS.j);
    at("help").addEventListener("click", () => {
      at("keys").hidden = !at("keys").hidden;
      at("help").setAttribute("aria-expanded", String(!at("keys").hidden));
    });
    document.addEventListener("click", (event) => {
      const mark = event.target.closest("mark");
      if (mark) say(mark.title || mark.textContent);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") document.activeElement.blur();
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input[type=search], select")) return;
      if (event.key in KEYS) {
        event.preventDefault();
        KEYS[event.key]();
      }
    });
    addEventListener("hashchange", follow);
    follow();
  });
})();
