// Texts with marks, as elements. Every string becomes a text node, so no content of a text is executed.
"use strict";

const Marks = (() => {
  // Cut a section's text where marks begin or end; returns pieces [start, end, covering marks].
  function pieces(length, marks) {
    const edges = [...new Set([0, length, ...marks.flatMap((mark) => [mark.start, mark.end])])].sort((a, b) => a - b);
    const parts = [];
    for (let i = 0; i + 1 < edges.length; i++) {
      const covering = marks.filter((mark) => mark.start <= edges[i] && mark.end >= edges[i + 1]);
      parts.push([edges[i], edges[i + 1], covering]);
    }
    return parts;
  }

  const tint = (mark) => `color-mix(in srgb, var(--critic-${mark.colour}) ${Math.round(18 + 30 * mark.weight)}%, transparent)`;

  // Stack one band of colour per critic.
  function bands(marks) {
    const critics = [...new Map(marks.map((mark) => [mark.critic, mark])).values()];
    const share = 100 / critics.length;
    const stops = critics.map((mark, i) => `${tint(mark)} ${i * share}% ${(i + 1) * share}%`);
    const lines = critics.map((mark, i) => `inset 0 -${2 * (i + 1)}px var(--critic-${mark.colour})`);
    return { background: `linear-gradient(to bottom, ${stops.join(", ")})`, shadow: lines.join(", ") };
  }

  const describe = (mark) => `${mark.critic}: ${mark.note}`;

  function element(name, className, text) {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
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
      mark.title = covering.map(describe).join("\n");
      mark.tabIndex = -1;
      paragraph.append(mark);
    }
    return paragraph;
  }

  // Label a mark of a whole section, or of the place after its end.
  function label(mark) {
    const node = element("mark", "whole", describe(mark));
    node.style.backgroundColor = tint(mark);
    node.style.borderInlineStartColor = `var(--critic-${mark.colour})`;
    node.tabIndex = -1;
    return node;
  }

  // Build a section: title, marks of the whole section, text with marks, marks after the end.
  function section([title, text], marks) {
    const node = element("section", "part");
    if (title) {
      const heading = element("h3", "", title);
      heading.dir = "auto";
      node.append(heading);
    }
    const behind = marks.filter((mark) => mark.start === mark.end);
    const whole = marks.filter((mark) => !behind.includes(mark) && mark.start === 0 && mark.end === text.length);
    node.append(...whole.map(label));
    const paragraph = inline(text, marks.filter((mark) => !whole.includes(mark) && !behind.includes(mark)));
    if (whole.length) {
      const colours = [...new Set(whole.map((mark) => mark.colour))];
      const bars = colours.map((colour, i) => `var(--critic-${colour}) ${4 * i}px ${4 * (i + 1)}px`);
      paragraph.style.background = `linear-gradient(to right, ${bars.join(", ")}, transparent ${4 * colours.length}px)`;
      paragraph.style.paddingLeft = `${4 * colours.length + 10}px`;
    }
    node.append(paragraph, ...behind.map(label));
    return node;
  }

  return { element, pieces, describe, section };
})();
