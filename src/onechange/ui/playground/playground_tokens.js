// Tokens as text that can be pointed at: which characters are whose, how they are coloured, and what is said of one.

const STRONGEST = 6, STRONGEST_EACH = 3; // nats of a token (one in four hundred), and of each character

export const visible = (token) =>
  token.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll("\u00a0", "⍽") || "∅";

export const percent = (p) => {
  if (p === null || p === undefined) return "no number";
  if (p > 0.9995 && p < 1) return "> 99.9%";
  if (p < 0.00005) return p > 0 ? "< 0.01%" : "0%";
  return `${(100 * p).toFixed(p >= 0.0995 ? 0 : p >= 0.00995 ? 1 : 2)}%`;
};

export const whole = (number) => number.toLocaleString("en-GB");

const color = (element, share) => element.style.setProperty("--v", Math.min(1, Math.max(0, share)).toFixed(2));

// By its nats, or by those of each of its `characters`; what is no number is coloured most.
export const shade = (element, nats, characters = 0) => {
  const strongest = characters ? STRONGEST_EACH * characters : STRONGEST;
  color(element, nats === null || nats === undefined ? 1 : nats / strongest);
};

const PROBABILITIES = [["certain", 1], ["1 in 3", 1 / 3], ["1 in 20", 1 / 20], ["1 in 400 or less", 1 / 400]];
const EACH = [["0", 0], ["1", 1], ["2", 2], ["3 or more nats per character", 3]];

// The legend: how strong the colour is, for probabilities of tokens or nats of characters.
export const legend = (element, each) => {
  const marks = (each ? EACH : PROBABILITIES).map(([words, value]) => {
    const mark = document.createElement("i");
    mark.textContent = words;
    color(mark, each ? value / STRONGEST_EACH : -Math.log(value) / STRONGEST);
    return mark;
  });
  element.replaceChildren(...marks);
};

// A stretch of text that can be pointed at, and the tokens that made it: one, or several that share a character.
export class Unit {
  constructor(tokens, text = "") {
    this.tokens = tokens;
    this.element = document.createElement("span");
    this.element.className = "t";
    this.write(text);
    shade(this.element, this.nats);
  }

  // Of all its tokens together; null where one of them is no number.
  get nats() {
    const known = this.tokens.every((token) => token.nats !== null);
    return known ? this.tokens.reduce((sum, token) => sum + token.nats, 0) : null;
  }

  write(text) {
    this.text = text;
    this.element.textContent = text;
  }
}

// Gives the characters that become certain to the tokens that brought them: some wait for what comes after them.
export class Growing {
  constructor() {
    this.waiting = []; // tokens whose characters are not all certain, in order
    this.unit = null; // the one that the first of them belongs to, if it has begun
  }

  // The new units; those that only grew are grown.
  take(line) {
    const made = [];
    this.waiting.push({ token: line, left: [...line.own].length });
    let certain = [...line.text];
    while (certain.length && this.waiting.length) {
      const at = this.waiting.findIndex((one) => one.left > 0);
      if (at < 0) break;
      const one = this.waiting[at];
      const given = certain.slice(0, one.left).join("");
      certain = certain.slice(one.left);
      one.left -= [...given].length;
      if (this.unit) this.unit.write(this.unit.text + given);
      else made.push((this.unit = new Unit(this.waiting.slice(0, at + 1).map((each) => each.token), given)));
      this.waiting.splice(0, one.left ? at : at + 1);
      if (!one.left) this.unit = null;
    }
    return made;
  }

  // What ended the text: tokens that left no character in it.
  ended() {
    const tokens = this.waiting.slice(this.unit ? 1 : 0).map((one) => one.token);
    return tokens.map((token) => {
      const unit = new Unit([token]);
      unit.element.classList.add("end");
      unit.element.textContent = visible(token.token);
      return unit;
    });
  }
}
