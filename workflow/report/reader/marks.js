// Texts with marked places, as elements. Every string becomes a text node: nothing of a text is ever run.
"use strict";

const Marks = (() => {
  // Cut a section's text where marks begin or end: pieces [start, end, marks that cover it].
  function pieces(length, marks) {
    const edges = [...new Set([0, length, ...marks.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
    const found = [];
    for (let i = 0; i + 1 < edges.length; i++) {
      const covering = marks.filter((mark) => mark.start <= edges[i] && mark.end >= edges[i + 1]);
      found.push([edges[i], edges[i + 1], covering]);
    }
    return found;
  }

  const tint = (mark) => `color-mix(in srgb, var(--critic-${mark.colour}) ${Math.round(18 + 30 * mark.weight)}%, transparent)`;

  // One band of colour for each critic, one below the other.
  function bands(marks) {
    const critics = [...new Map(marks.map((mark) => [mark.critic, mark])).values()];
    const share = 100 / critics.length;
    const stops = critics.map((mark, i) => `${tint(mark)} ${i * share}% ${(i + 1) * share}%`);
    const lines = critics.map((mark, i) => `inset 0 -${2 * (i + 1)}px var(--critic-${mark.colour})`);
    return { background: `linear-gradient(to bottom, ${stops.join(", ")})`, shadow: lines.join(", ") };
  }

  const said = (mark) => `${mark.critic}: ${mark.note}`;

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function inline(text, marks) {
    const paragraph = element("p", "text");
    paragraph.dir = "auto";
    for (const [start, end, covering] of pieces(text.length, marks)) {
      const part = text.slice(start, end);
      if (!covering.length) {
        paragraph.append(part);
        continue;
      }
      const mark = element("mark", "", part);
      const { background, shadow } = bands(covering);
      mark.style.backgroundImage = background;
      mark.style.boxShadow = shadow;
      mark.title = covering.map(said).join("\n");
      mark.tabIndex = -1;
      paragraph.append(mark);
    }
    return paragraph;
  }

  // What is said of a section as a whole, or of the place behind it.
  function label(mark) {
    const made = element("mark", "whole", said(mark));
    made.style.backgroundColor = tint(mark);
    made.style.borderInlineStartColor = `var(--critic-${mark.colour})`;
    made.tabIndex = -1;
    return made;
  }

  // A section: its title, what is said of it as a whole, its text with marked places, what is said of its end.
  function section([title, text], marks) {
    const made = element("section", "part");
    if (title) {
      const heading = element("h3", "", title);
      heading.dir = "auto";
      made.append(heading);
    }
    const behind = marks.filter((mark) => mark.start === mark.end);
    const whole = marks.filter((mark) => !behind.includes(mark) && mark.start === 0 && mark.end === text.length);
    made.append(...whole.map(label));
    const paragraph = inline(text, marks.filter((mark) => !whole.includes(mark) && !behind.includes(mark)));
    if (whole.length) {
      const colours = [...new Set(whole.map((mark) => mark.colour))];
      const bars = colours.map((colour, i) => `var(--critic-${colour}) ${4 * i}px ${4 * (i + 1)}px`);
      paragraph.style.background = `linear-gradient(to right, ${bars.join(", ")}, transparent ${4 * colours.length}px)`;
      paragraph.style.paddingLeft = `${4 * colours.length + 10}px`;
    }
    made.append(paragraph, ...behind.map(label));
    return made;
  }

  return { element, pieces, said, section };
})();
