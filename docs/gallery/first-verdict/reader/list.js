// The list of texts; only visible rows are in the page, because there may be thousands.
"use strict";

class TextList {
  static HEIGHT = 66; // pixels of a row, as in reader.css
  static SPARE = 6; // extra rows above and below the visible ones

  // describe(row) -> {title, beginning, value}; choose(row) is called when the user selects a row.
  constructor(box, space, describe, choose) {
    Object.assign(this, { box, space, describe, choose, rows: [], chosen: -1 });
    box.addEventListener("scroll", () => this.render(), { passive: true });
    new ResizeObserver(() => this.render()).observe(box);
    box.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose(this.rows[Number(option.dataset.place)], true);
    });
    box.addEventListener("keydown", (event) => {
      const page = Math.max(1, Math.floor(box.clientHeight / TextList.HEIGHT) - 1);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.key in steps) {
        event.preventDefault();
        this.step(steps[event.key]);
      } else if (event.key === "Enter" && this.chosen >= 0) {
        this.choose(this.chosen, true);
      }
    });
  }

  show(rows) {
    this.rows = rows;
    this.space.style.height = `${rows.length * TextList.HEIGHT}px`;
    this.space.replaceChildren();
    this.render();
  }

  // Mark a row as selected, and scroll it into view.
  select(row) {
    this.chosen = row;
    const place = this.rows.indexOf(row);
    if (place >= 0) {
      const top = place * TextList.HEIGHT;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      const bottom = top + TextList.HEIGHT - this.box.clientHeight;
      if (bottom > this.box.scrollTop) this.box.scrollTop = bottom;
    }
    this.render();
  }

  step(by) {
    if (!this.rows.length) return;
    const place = this.rows.indexOf(this.chosen);
    const next = place < 0 ? 0 : Math.min(this.rows.length - 1, Math.max(0, place + by));
    if (next === place) return;
    this.select(this.rows[next]); // select before loading: keys may come faster than texts load
    this.choose(this.rows[next], false);
  }

  render() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / TextList.HEIGHT) - TextList.SPARE);
    const visible = Math.ceil(this.box.clientHeight / TextList.HEIGHT) + 2 * TextList.SPARE;
    const last = Math.min(this.rows.length, first + visible);
    const options = [];
    for (let place = first; place < last; place++) options.push(this.option(place));
    this.space.replaceChildren(...options);
    const chosen = options.find((option) => option.getAttribute("aria-selected") === "true");
    if (chosen) this.box.setAttribute("aria-activedescendant", chosen.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  option(place) {
    const row = this.rows[place];
    const { title, beginning, value } = this.describe(row);
    const option = Marks.element("div", "row");
    option.id = `row-${place}`;
    option.dataset.place = place;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", String(row === this.chosen));
    option.setAttribute("aria-posinset", place + 1);
    option.setAttribute("aria-setsize", this.rows.length);
    option.style.top = `${place * TextList.HEIGHT}px`;
    option.append(Marks.element("bdi", "title", title), Marks.element("span", "value", value));
    option.append(Marks.element("bdi", "beginning", beginning));
    return option;
  }
}
