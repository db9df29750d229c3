// A column in which a model reads a text: every token coloured by how much it surprises, and what was expected instead.

import { fill } from "./playground_card.js";
import { Column } from "./playground_column.js";
import { post } from "./playground_server.js";
import { Unit, shade, whole } from "./playground_tokens.js";

export class Reading extends Column {
  constructor(...given) {
    super("reading", ...given);
    this.clear();
  }

  // Whatever is being read is given up.
  clear() {
    this.control?.abort();
    this.control = null;
    this.mark(-1);
    this.units = [];
    this.nats = null; // of every character, a token's spread evenly over its own
    this.text.textContent = this.find(".figure").textContent = "";
    this.find(".here").replaceChildren();
    this.element.classList.remove("wrong", "reading");
  }

  async read(text, signal) {
    this.clear();
    const control = (this.control = new AbortController());
    signal.addEventListener("abort", () => control.abort(), { once: true });
    this.element.classList.add("reading");
    const figure = this.find(".figure");
    figure.textContent = "…";
    const busy = (line) => (figure.textContent = line);
    try {
      this.take(await post("surprise", { ...this.model, text }, { signal: control.signal, busy }), [...text]);
    } catch (problem) {
      if (control.signal.aborted) return;
      this.element.classList.add("wrong");
      figure.textContent = problem.message;
    } finally {
      if (this.control === control) this.element.classList.remove("reading");
    }
  }

  take(found, characters) {
    this.vocabulary = found.vocabulary;
    this.nats = new Array(characters.length).fill(0);
    let together = [], end = 0;
    found.tokens.forEach((token, number) => {
      together.push(token);
      end = token.end;
      const next = found.tokens[number + 1];
      if (next && (next.start < end || end === together[0].start)) return; // shares a character with what follows
      const start = together[0].start;
      const unit = new Unit(together, characters.slice(start, end).join(""));
      [unit.start, unit.end] = [start, end];
      for (let at = start; at < end; at += 1) this.nats[at] = unit.nats / (end - start);
      this.units.push(unit);
      together = [];
    });
    this.text.append(...this.units.map((unit) => unit.element));
    this.colour(this.even);
    const value = document.createElement("b"), rest = document.createElement("span");
    value.textContent = found.nats_per_character === null ? "no number of" : found.nats_per_character.toFixed(3);
    const parts = [`${whole(found.tokens.length)} tokens`, `${whole(found.characters)} characters`];
    if (found.nats !== null) parts.unshift(`${found.nats.toFixed(1)} nats`);
    rest.className = "s";
    rest.textContent = parts.join(" · ");
    this.find(".figure").replaceChildren(value, " nats per character", rest);
  }

  // `even`: by the surprise of each character, which is comparable between tokenizers.
  colour(even) {
    this.even = even;
    for (const unit of this.units) shade(unit.element, unit.nats, even ? unit.end - unit.start : 0);
  }

  // The unit that holds a character is marked, and what the model thought there is shown.
  show(character) {
    const index = this.units.findIndex((unit) => unit.start <= character && character < unit.end);
    const unit = this.mark(index);
    if (unit) fill(this.find(".here"), unit, this.vocabulary, "in text");
    else this.find(".here").replaceChildren();
    return unit;
  }
}

// The words between whose surprises there is the most: [start, end, ours, theirs], the widest apart first.
export const apart = (text, ours, theirs, most) => {
  const found = [];
  let at = 0;
  for (const word of text.match(/\s*\S+|\s+$/gu) ?? []) {
    const end = at + [...word].length;
    const sum = (nats) => nats.slice(at, end).reduce((total, value) => total + value, 0);
    found.push({ start: at, end, ours: sum(ours), theirs: sum(theirs) });
    at = end;
  }
  return found.sort((a, b) => Math.abs(b.ours - b.theirs) - Math.abs(a.ours - a.theirs)).slice(0, most);
};
