"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const questionnaire = data.questionnaire;
const KEY = `macroscope-human:${data.study}:${data.annotator}`;
const IDLE_MS = 60000;
const byId = (id) => document.getElementById(id);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isText = (value) => typeof value === "string";
let lastTouch = Date.now();
let storable = true;
let state = restored();

// Content of texts and questionnaires is inserted as text, never as HTML.
function el(tag, properties, ...inside) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...inside.filter((child) => child !== null));
  return node;
}

// Check that a value has the form of an answer made by `answerOf`.
function isAnswer(value) {
  return isObject(value) && ["types", "answers", "reasons"].every((name) => isObject(value[name]) && Object.values(value[name]).every(isText))
    && isText(value.comment) && Array.isArray(value.marks) && value.marks.every(Array.isArray) && Number.isFinite(value.seconds)
    && (value.changed === null || isText(value.changed));
}

// Restore a state from the valid parts of the stored one.
function stateOf(kept) {
  const stored = isObject(kept) ? kept : {};
  const valid = { phase: data.training.length ? "training" : "test", at: { training: 0, test: 0 }, training: {}, test: {} };
  for (const [phase, list] of [["training", data.training], ["test", data.items]]) {
    if (stored.phase === phase && list.length) valid.phase = phase;
    if (isObject(stored.at) && Number.isInteger(stored.at[phase]) && list[stored.at[phase]]) valid.at[phase] = stored.at[phase];
    for (const { code } of list)
      if (isObject(stored[phase]) && isAnswer(stored[phase][code])) valid[phase][code] = stored[phase][code];
  }
  return valid;
}

function restored() {
  let kept = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch (error) {
    storable = false;
  }
  try {
    return stateOf(JSON.parse(kept));
  } catch (error) {
    return stateOf(null); // not JSON
  }
}

function keep() {
  try {
    localStorage.setItem(KEY, JSON.stringify(state));
    storable = true;
  } catch (error) {
    storable = false;
  }
  byId("alert").textContent = storable ? "" :
    "This browser cannot store answers: export them before you close the page, or they are lost.";
}

const items = () => (state.phase === "training" ? data.training : data.items);
const current = () => items()[state.at[state.phase]];

function answerOf(phase, code) {
  const all = state[phase];
  if (!all[code]) all[code] = { types: {}, answers: {}, reasons: {}, comment: "", marks: [], seconds: 0, attempts: 0,
    first: null, verified: false, changed: null };
  return all[code];
}

function change(edit) {
  const answer = answerOf(state.phase, current().code);
  edit(answer);
  answer.changed = new Date().toISOString();
  lastTouch = Date.now();
  keep();
  showProgress();
}

function missing(item) {
  const answer = state.test[item.code];
  if (!answer) return ["everything"];
  const open = [];
  if (questionnaire.section_types) {
    const untyped = item.sections.filter((_, n) => !answer.types[n]).length;
    if (untyped) open.push(`the type of ${untyped} section${untyped > 1 ? "s" : ""}`);
  }
  for (const question of questionnaire.questions) {
    if (answer.answers[question.name] === undefined) open.push(`“${question.text}”`);
    else if (question.reason === "required" && !(answer.reasons[question.name] || "").trim())
      open.push(`the reason for “${question.text}”`);
  }
  return open;
}

const isFinished = (item) => missing(item).length === 0;
const finished = () => data.items.filter(isFinished).length;
const trained = () => data.training.every((item) => (state.training[item.code] || {}).verified);

function showProgress() {
  const bar = byId("progress");
  bar.max = data.items.length;
  bar.value = finished();
  byId("progress-text").textContent = `${finished()} of ${data.items.length}`;
  byId("to-test").disabled = !trained();
  for (const phase of ["training", "test"])
    byId(`to-${phase}`).setAttribute("aria-current", String(state.phase === phase));
  const open = byId("open");
  if (open && state.phase === "test") {
    const left = missing(current());
    open.textContent = left.length ? `Still missing: ${left.join("; ")}.` : "This text is finished.";
  }
}

function render(focus) {
  const item = current();
  const training = state.phase === "training";
  const answer = answerOf(state.phase, item.code);
  byId("instructions-text").textContent = training ? questionnaire.training_instructions : questionnaire.instructions;
  const number = state.at[state.phase] + 1;
  const heading = el("h2", { tabindex: "-1", id: "heading" }, `${training ? "Training text" : "Text"} ${number} of ${items().length} (${item.code})`);
  const parts = item.sections.map((sentences, n) => sectionOf(item, answer, sentences, n, training));
  const below = training ? [verifyOf(item, answer)] : [...questionnaire.questions.map((q) => questionOf(q, answer)), commentOf(answer),
    el("p", { id: "open", class: "hint", "aria-live": "polite" })];
  byId("document").replaceChildren(heading, ...parts, ...below.filter((node) => node), moves());
  showProgress();
  if (focus) {
    heading.focus();
    scrollTo(0, byId("document").offsetTop - 8);
  }
}

function sectionOf(item, answer, sentences, n, training) {
  const text = el("p", { class: "text", dir: "auto", lang: data.language });
  sentences.forEach((sentence, s) => {
    const words = sentence.trimEnd();
    const node = questionnaire.marks && !training ? sentenceOf(answer, words, n, s) : el("span", {}, words);
    text.append(...(item.place && item.place.sentence === s ? placeOf(item.place.kind, node) : [node]), sentence.slice(words.length));
  });
  const single = item.sections.length === 1 || !questionnaire.section_types;
  const part = el("section", { class: "part", "aria-labelledby": single ? "heading" : `section-${n}` },
    single ? null : el("h3", { id: `section-${n}` }, `Section ${n + 1}`), text);
  if (questionnaire.section_types) part.append(...typeOf(item, answer, n, training));
  return part;
}

// Show the place that the questions are about: the frame of a sentence, or a sign in the slot after it.
function placeOf(kind, node) {
  if (kind === "sentence") return [el("mark", { class: "place" }, node)];
  return [node, " ", el("mark", { class: "place slot", role: "img", "aria-label": "the marked place" }, "\u25bf")];
}

function sentenceOf(answer, sentence, n, s) {
  const is = () => answer.marks.some((mark) => mark[0] === n && mark[1] === s);
  const node = el("span", { class: "sentence", role: "button", tabindex: s ? "-1" : "0", "aria-pressed": String(is()) }, sentence);
  const toggle = () => {
    change((kept) => {
      kept.marks = is() ? kept.marks.filter((mark) => mark[0] !== n || mark[1] !== s) : [...kept.marks, [n, s]];
    });
    node.setAttribute("aria-pressed", String(is()));
  };
  node.addEventListener("click", toggle);
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const neighbour = step && node.closest(".text").querySelectorAll(".sentence")[s + step];
    if (event.altKey || event.ctrlKey) return;
    if (event.key === "Enter" || event.key === " ") toggle();
    else if (neighbour) {
      node.tabIndex = -1;
      neighbour.tabIndex = 0;
      neighbour.focus();
    } else return;
    event.preventDefault();
  });
  return node;
}

function typeOf(item, answer, n, training) {
  const id = `type-${n}`;
  const verdict = el("span", { id: `verdict-${n}` });
  const choose = el("select", { id, "aria-describedby": `verdict-${n}`, onchange: (event) => change((kept) => {
    kept.types[n] = event.target.value;
    if (training) render.verify();
  }) }, el("option", { value: "" }, "choose …"), ...data.types.map((type) => el("option", { value: type }, type)));
  choose.value = answer.types[n] || "";
  if (training && answer.verified) {
    const right = answer.types[n] === item.gold[n];
    verdict.className = right ? "right" : "wrong";
    verdict.textContent = right ? "✓ right" : `✗ it is “${item.gold[n]}”`;
  }
  return [el("label", { for: id }, `Type of section ${n + 1} `), choose, " ", verdict];
}

render.verify = () => {
  const item = current();
  const button = byId("verify");
  if (button) button.disabled = item.sections.some((_, n) => !answerOf("training", item.code).types[n]);
};

function verifyOf(item, answer) {
  const button = el("button", { type: "button", id: "verify", onclick: () => {
    change((kept) => {
      kept.attempts += 1;
      kept.verified = true;
      kept.first = kept.first || { ...kept.types };
    });
    const wrong = item.gold.filter((gold, n) => gold !== answer.types[n]).length;
    render(false);
    byId("status").textContent = wrong ? `${wrong} of ${item.gold.length} section types are wrong; they are marked.` : "All section types are right.";
    byId("verify").focus();
  } }, "Verify");
  button.disabled = item.sections.some((_, n) => !answer.types[n]);
  return button;
}

function questionOf(question, answer) {
  const box = el("fieldset", { "data-question": question.name }, el("legend", {}, question.text));
  question.choices.forEach((choice, c) => {
    const id = `answer-${question.name}-${c}`;
    const input = el("input", { type: "radio", name: `answer-${question.name}`, id, value: choice.label, onchange: () =>
      change((kept) => { kept.answers[question.name] = choice.label; }) });
    input.checked = answer.answers[question.name] === choice.label;
    box.append(el("label", { class: "choice", for: id }, input, choice.label));
  });
  if (question.reason !== "none") {
    const id = `reason-${question.name}`;
    const area = el("textarea", { id, dir: "auto", oninput: (event) => change((kept) => { kept.reasons[question.name] = event.target.value; }) });
    area.value = answer.reasons[question.name] || "";
    box.append(el("label", { for: id }, question.reason === "required" ? "Why? (required)" : "Why?"), area);
  }
  return box;
}

function commentOf(answer) {
  if (!questionnaire.comment) return null;
  const area = el("textarea", { id: "comment", dir: "auto", oninput: (event) => change((kept) => { kept.comment = event.target.value; }) });
  area.value = answer.comment;
  return el("div", {}, el("label", { for: "comment" }, "Anything else about this text?"), area);
}

function moves() {
  const at = state.at[state.phase];
  const last = at === items().length - 1;
  const forward = last && state.phase === "training" ? "Continue to the texts" : "Next text";
  const next = el("button", { type: "button", id: "next", onclick: () => move(1) }, forward);
  const back = el("button", { type: "button", id: "previous", onclick: () => move(-1) }, "Previous text");
  back.disabled = at === 0;
  next.disabled = last && state.phase === "test";
  return el("div", { class: "move" }, back, next);
}

function move(step) {
  const to = state.at[state.phase] + step;
  byId("status").textContent = "";
  if (to >= 0 && to < items().length) state.at[state.phase] = to;
  else if (step > 0 && state.phase === "training") {
    if (!trained()) {
      byId("status").textContent = "Verify every training text first.";
      return;
    }
    state.phase = "test";
  } else return;
  keep();
  render(true);
}

function exported() {
  const codes = data.items.filter((item) => state.test[item.code] && state.test[item.code].changed);
  return {
    format: "macroscope human answers", version: 1, study: data.study, annotator: data.annotator,
    exported: new Date().toISOString(), texts: data.items.length, finished: finished(),
    training: data.training.filter((item) => state.training[item.code]).map((item) => ({ code: item.code, ...state.training[item.code] })),
    answers: codes.map((item) => ({ code: item.code, digest: item.digest, is_finished: isFinished(item), ...state.test[item.code] })),
    whole: true,
  };
}

byId("export").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify(exported(), null, 1) + "\n"], { type: "application/json" });
  const link = el("a", { href: URL.createObjectURL(blob), download: `answers-${data.study}-${data.annotator}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  byId("status").textContent = finished() === data.items.length ? "Exported: all texts are finished. Submit the file."
    : `Exported: ${finished()} of ${data.items.length} texts are finished; you can continue and export again.`;
});

byId("load").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  try {
    const answers = JSON.parse(await file.text());
    if (answers.format !== "macroscope human answers" || answers.study !== data.study || answers.annotator !== data.annotator)
      throw new Error("other");
    const lists = [["training", answers.training], ["test", answers.answers]];
    if (!lists.every(([, list]) => list.every(isAnswer))) throw new Error("damaged");
    let taken = 0;
    for (const [phase, list] of lists) {
      for (const answer of list) {
        const isKnown = (phase === "test" ? data.items : data.training).some((item) => item.code === answer.code);
        const here = state[phase][answer.code];
        // Keep the newer answer.
        if (!isKnown || (here && here.changed && here.changed >= answer.changed)) continue;
        const { code, digest, is_finished, ...kept } = answer;
        state[phase][code] = kept;
        taken += 1;
      }
    }
    keep();
    render(true);
    byId("status").textContent = `Loaded ${taken} answers; newer answers on this page were kept.`;
  } catch (error) {
    byId("status").textContent = "This file was not exported from this page; nothing was changed.";
  }
});

for (const phase of ["training", "test"])
  byId(`to-${phase}`).addEventListener("click", () => {
    state.phase = phase;
    keep();
    render(true);
  });

document.addEventListener("keydown", (event) => {
  lastTouch = Date.now();
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const selects = [...document.querySelectorAll("section.part")];
  const inside = selects.findIndex((part) => part.contains(document.activeElement));
  const digit = /^Digit([1-9])$/.exec(event.code);
  if (event.code === "KeyN") move(1);
  else if (event.code === "KeyP") move(-1);
  else if (event.code === "KeyJ" || event.code === "KeyK") {
    const to = selects[event.code === "KeyJ" ? inside + 1 : inside - 1];
    const goal = to && (to.querySelector("select") || to.querySelector("[tabindex='0']"));
    if (goal) goal.focus();
  } else if (digit) {
    const boxes = [...document.querySelectorAll("fieldset")];
    const box = boxes.find((candidate) => candidate.contains(document.activeElement)) || boxes.find((candidate) => !candidate.querySelector(":checked")) || boxes[0];
    const input = box && box.querySelectorAll("input")[digit[1] - 1];
    if (input) {
      input.focus();
      input.click();
    }
  } else return;
  event.preventDefault();
});
for (const kind of ["pointerdown", "scroll"]) document.addEventListener(kind, () => { lastTouch = Date.now(); }, { passive: true });
addEventListener("pagehide", keep);
addEventListener("storage", (event) => {
  if (event.key !== KEY || !event.newValue) return;
  state = restored(); // another window of this page stored answers
  render(false);
});

// Count time while the page is visible and in use.
let unsaved = 0;
setInterval(() => {
  if (document.visibilityState !== "visible" || Date.now() - lastTouch > IDLE_MS) return;
  answerOf(state.phase, current().code).seconds += 1;
  unsaved = (unsaved + 1) % 5;
  if (!unsaved) keep();
}, 1000);

byId("who").textContent = `Study ${data.study}, ${data.annotator}`;
byId("consent").textContent = questionnaire.consent;
byId("to-training").hidden = data.training.length === 0;
byId("to-test").hidden = data.training.length === 0;
keep();
render(false);
