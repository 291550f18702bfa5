// The page: which texts, in which order, which of them is read. What is shown follows from the address alone:
// #<corpus>/<system>/<id>?by=<critic>, largest number first, or ?by=-<critic>, smallest first; no critic after "by=" means
// the order in which texts were drawn.
"use strict";

(() => {
  const at = (id) => document.getElementById(id);
  const make = Marks.element;
  const NEAREST = 30; // marked places that are listed below a text
  const state = { run: null, system: null, by: null, rising: false, index: null, row: -1, real: null, realRow: -1, found: null, off: new Set() };
  // `by`: critic that gives the order, or "". `rising`: smallest number first. `off`: critics whose marks are not shown. A link that asks for one critic shows that one's alone.
  let list = null;
  let asked = 0; // number of the last thing that was asked for: what comes later than that is not shown

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
    const system = state.run.systems.find((one) => one.key === parts.slice(0, 2).join("/"));
    const order = new URLSearchParams(query || "").get("by");
    const rising = order !== null && order.startsWith("-");
    const by = rising ? order.slice(1) : order;
    return { system, id: parts.length > 2 ? parts.slice(2).join("/") : null, by, rising, asked: path !== "" };
  }

  // As the address has it.
  const orderNow = () => (state.rising ? `-${state.by}` : state.by);

  function go(system, id, order) {
    const next = address(system, id, order);
    if (next === location.hash) follow();
    else location.hash = next;
  }

  async function follow() {
    const wanted = parsed();
    const mine = ++asked;
    const here = location.hash;
    // What is behind a new address is asked for once its event comes: until then nothing may write over it.
    const late = () => mine !== asked || location.hash !== here;
    const system = wanted.system || firstJudged();
    if (wanted.asked && !wanted.system) say(`There are no texts at ${decodeURIComponentSafely(location.hash)}; these are others.`);
    else say("");
    try {
      const index = await macroscope.indexOf(system.key);
      const real = await macroscope.indexOf(controlOf(system).key);
      if (late()) return;
      if (state.system === null && wanted.by && state.run.critics[wanted.by]?.marks)
        state.off = new Set(Object.keys(state.run.critics).filter((name) => name !== wanted.by));
      enter(system, index, real, wanted);
      const row = wanted.id === null ? -1 : index.ids.indexOf(wanted.id);
      if (wanted.id !== null && row < 0) say(`There is no text "${wanted.id}" among these.`);
      await read(row < 0 ? list.rows[0] : row, late);
    } catch (error) {
      say(error.message);
    }
  }

  // Real text against itself is nothing to begin with.
  const firstJudged = () => state.run.systems.find((one) => !one.control && one.critics.length && one.texts) || state.run.systems[0];

  function decodeURIComponentSafely(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  // ---- which texts, in which order ---------------------------------------------------------------------------------

  const controlOf = (system) => state.run.systems.find((one) => one.corpus === system.corpus && one.control);
  const critics = () => state.system.critics;

  function enter(system, index, real, { by, rising }) {
    const other = state.system !== system;
    state.system = system;
    state.index = index;
    state.real = real;
    if (other) {
      state.row = -1;
      state.found = null;
      at("search").value = "";
      at("system").value = system.key;
      at("page").replaceChildren(...pageOf(system));
      const options = critics().flatMap((name) => [
        new Option(`${name}: ${state.run.critics[name].score}, largest first`, name),
        new Option(`${name}, smallest first`, `-${name}`),
      ]);
      at("order").replaceChildren(...options, new Option("as they were drawn", ""));
    }
    const order = critics().includes(by) ? by : by === "" || !critics().length ? "" : critics()[0];
    const smallest = rising && order === by;
    if (other || order !== state.by || smallest !== state.rising) {
      state.by = order;
      state.rising = smallest;
      state.off.delete(order);
      drawLegend();
      at("order").value = orderNow();
      drawList();
    }
  }

  // Of the report; real text has none.
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
    const value = (row) => (scores[row] === null ? -Infinity : sign * scores[row]); // what is not judged stands last
    return rows.sort((a, b) => value(b) - value(a) || a - b || 0);
  };

  function drawList() {
    const words = at("search").value.trim().toLowerCase();
    let rows = ordered(state.index);
    if (state.found) rows = rows.filter((row) => state.found.has(row));
    else if (words) {
      const { ids, titles, beginnings } = state.index;
      rows = rows.filter((row) => `${ids[row]}\n${titles[row] || ""}\n${beginnings[row]}`.toLowerCase().includes(words));
    }
    const shown = state.by ? ". Behind each: its number, and how many real texts have a smaller one" : "";
    at("count").textContent = `${rows.length.toLocaleString("en")} of ${state.index.ids.length.toLocaleString("en")} texts${shown}`;
    at("list").scrollTop = 0;
    list.show(rows);
    if (state.row >= 0) list.select(state.row);
  }

  const nameOf = (index, row) => index.titles[row] || index.ids[row];
  function described(row) {
    const score = state.by ? state.index.scores[state.by][row] : null;
    const value = !state.by ? "" : score === null ? "not judged" : `${Numbers.four(score)} · ${Numbers.percent(state.index, state.by, row)}`;
    return { title: nameOf(state.index, row), beginning: state.index.beginnings[row], value };
  }

  async function searchEverywhere() {
    const words = at("search").value.trim().toLowerCase();
    const { system, index } = state;
    if (!words) return say("Type what to search for first.");
    const mine = (searchEverywhere.last = (searchEverywhere.last || 0) + 1);
    const found = new Set();
    const total = Math.ceil(index.ids.length / state.run.chunk);
    for (let number = 0; number < total; number++) {
      const chunk = await macroscope.chunkOf(system.key, number);
      if (mine !== searchEverywhere.last || system !== state.system) return;
      chunk.forEach(([sections], place) => {
        const text = sections.map(([title, body]) => `${title || ""}\n${body}`).join("\n").toLowerCase();
        if (text.includes(words)) found.add(number * state.run.chunk + place);
      });
      if (number % 10 === 0) say(`Searched ${Math.min(index.ids.length, (number + 1) * state.run.chunk).toLocaleString("en")} texts …`);
    }
    state.found = found;
    drawList();
    say(`${found.size.toLocaleString("en")} texts have "${words}" in them.`);
  }

  // ---- what is read ------------------------------------------------------------------------------------------------

  async function read(row, late) {
    if (row === undefined) {
      at("document").replaceChildren(make("p", "message", "No texts."));
      return at("real").replaceChildren();
    }
    const text = await textOf(state.system, row);
    if (late()) return;
    state.row = row;
    list.select(row);
    drawText(at("document"), whose(state.system), state.system, state.index, row, text);
    const id = state.index.ids[row];
    history.replaceState(null, "", address(state.system, id, orderNow()));
    document.title = `${nameOf(state.index, row)} · ${state.system.key}`;
    await readReal(beside(row));
  }

  async function textOf(system, row) {
    const chunk = await macroscope.chunkOf(system.key, Math.floor(row / state.run.chunk));
    return chunk[row % state.run.chunk];
  }

  // The partner of a text, a real one of the same id or first words, where it has one; otherwise the middle one, in the order that is chosen.
  function beside(row) {
    const partner = state.index.partners[row];
    if (partner !== null) return partner;
    const rows = ordered(state.real);
    return rows[Math.floor((rows.length - 1) / 2)];
  }

  async function readReal(row) {
    if (row === undefined) return;
    const mine = asked;
    const system = controlOf(state.system);
    const text = await textOf(system, row);
    if (mine !== asked) return;
    state.realRow = row;
    const place = ordered(state.real).indexOf(row) + 1;
    const order = `number ${place} of ${state.real.ids.length} ${state.by ? `by ${state.by}` : "as drawn"}`;
    drawText(at("real"), `${whyReal(row)} (${order}; the keys [ and ] show others)`, system, state.real, row, text);
  }

  const whose = (system) => (system.control ? `Real text of ${system.corpus}` : `Text of ${system.system} on ${system.corpus}`);

  function whyReal(row) {
    if (state.index.partners[state.row] === row) return "Real text with the same id or first words";
    return row === beside(state.row) ? "Real text, the middle one in this order" : "Real text";
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

  // Real text is judged by every critic of its corpus: each has one colour there, whichever system is read.
  const marking = () => controlOf(state.system).critics.filter((name) => state.run.critics[name].marks);
  const colourOf = (critic) => marking().indexOf(critic) % state.run.colours;

  function drawText(pane, kind, system, index, row, text) {
    const marks = marksOf(system, text);
    const heading = make("h2", "", nameOf(index, row));
    heading.dir = "auto";
    const about = make("p", "about");
    if (nameOf(index, row) !== index.ids[row]) about.append(make("bdi", "", index.ids[row]), " · ");
    about.append(`${index.words[row].toLocaleString("en")} words · `);
    const silent = controlOf(system).critics.filter((critic) => !system.critics.includes(critic));
    const link = make("a", "", "link to this text");
    link.href = address(system, index.ids[row], orderNow());
    about.append(link);
    const sections = text[0].map((section, number) => Marks.section(section, marks.filter((mark) => mark.section === number)));
    pane.replaceChildren(make("p", "kind", kind), heading, about, Numbers.table(state.run, system, silent, index, row), ...sections, notesOf(text, marks));
    pane.scrollTop = 0;
  }

  function notesOf(text, marks) {
    const made = make("section", "notes");
    if (!marks.length) return made;
    const worst = [...marks].sort((a, b) => b.weight - a.weight).slice(0, NEAREST);
    worst.sort((a, b) => a.section - b.section || a.start - b.start);
    const shown = worst.length < marks.length ? `the ${worst.length} most blamed of ${marks.length}` : String(marks.length);
    made.append(make("h3", "", `Marked places: ${shown}`));
    const items = make("ol", "");
    for (const mark of worst) {
      const item = make("li", "");
      const swatch = make("span", "swatch");
      swatch.style.backgroundColor = `var(--critic-${mark.colour})`;
      const body = text[0][mark.section][1];
      const quoted = body.slice(mark.start, mark.end);
      item.append(swatch, ` ${Marks.said(mark)} `);
      if (quoted) {
        const quote = make("q", "", shortened(quoted));
        quote.dir = "auto";
        item.append(quote);
      }
      items.append(item);
    }
    made.append(items);
    return made;
  }

  // The first words, up to some 60 characters.
  function shortened(text) {
    if (text.length <= 60) return text;
    const cut = text.slice(0, 60);
    return `${cut.slice(0, cut.lastIndexOf(" ") > 0 ? cut.lastIndexOf(" ") : 60)} …`;
  }

  function drawLegend() {
    const boxes = marking().filter((critic) => critics().includes(critic)).map((critic) => {
      const label = make("label", "");
      const box = make("input", "");
      box.type = "checkbox";
      box.checked = !state.off.has(critic);
      box.addEventListener("change", () => {
        if (box.checked) state.off.delete(critic);
        else state.off.add(critic);
        redraw();
      });
      const swatch = make("span", "swatch");
      swatch.style.backgroundColor = `var(--critic-${colourOf(critic)})`;
      label.append(box, swatch, ` ${critic}: ${state.run.critics[critic].marks}`);
      return label;
    });
    at("legend").replaceChildren(...(boxes.length ? boxes : [make("span", "", "No critic marks places in these texts.")]));
  }

  async function redraw() {
    if (state.row < 0) return;
    drawText(at("document"), whose(state.system), state.system, state.index, state.row, await textOf(state.system, state.row));
    await readReal(state.realRow);
  }

  // ---- keys --------------------------------------------------------------------------------------------------------

  function stepMark(by) {
    const marks = [...at("document").querySelectorAll("mark")];
    if (!marks.length) return say("No marked places in this text.");
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

  // On a small screen alone: everywhere else nothing is folded.
  function fold(folded) {
    document.body.classList.toggle("folded", folded);
    at("unfold").setAttribute("aria-expanded", String(!folded));
    if (!folded && state.row >= 0) list.select(state.row); // what is not shown cannot be scrolled
  }

  function say(text) {
    at("status").textContent = text;
  }

  // ---- beginning ---------------------------------------------------------------------------------------------------

  macroscope.onRun((run) => {
    state.run = run;
    const groups = new Map();
    const corpora = new Set(run.systems.map((one) => one.corpus));
    for (const system of run.systems) {
      if (!groups.has(system.corpus)) {
        const group = make("optgroup", "");
        group.label = system.corpus;
        groups.set(system.corpus, group);
      }
      // A menu that is closed does not show the group.
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
    at("system").addEventListener("change", (event) => go(run.systems.find((one) => one.key === event.target.value), null, orderNow()));
    at("order").addEventListener("change", (event) => go(state.system, null, event.target.value));
    at("search").addEventListener("input", () => {
      state.found = null;
      drawList();
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
