// Tokens as text that can be pointed at: which characters are whose, how they are coloured, and what is said of one.

const STRONGEST = 6; // nats: one in four hundred

export const visible = (token) =>
  token.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll("\u00a0", "⍽") || "∅";

export const percent = (p) => {
  if (p === null || p === undefined) return "no number";
  if (p > 0.9995 && p < 1) return "> 99.9%";
  if (p < 0.00005) return p > 0 ? "< 0.01%" : "0%";
  return `${(100 * p).toFixed(p >= 0.0995 ? 0 : p >= 0.00995 ? 1 : 2)}%`;
};

export const whole = (number) => number.toLocaleString("en-GB");

export const shade = (element, nats) => {
  const known = nats !== null && nats !== undefined;
  element.style.setProperty("--v", known ? Math.min(1, Math.max(0, nats) / STRONGEST).toFixed(2) : "1");
};

// The legend: how strong the colour is at a few probabilities.
export const legend = (element) => {
  for (const [words, p] of [["certain", 1], ["1 in 3", 1 / 3], ["1 in 20", 1 / 20], ["1 in 400 or less", 1 / 400]]) {
    const mark = document.createElement("i");
    mark.textContent = words;
    shade(mark, -Math.log(p));
    element.append(mark);
  }
};

// A stretch of text that can be pointed at, and the tokens that made it: one, or several that share a character.
export class Unit {
  constructor(tokens, text = "") {
    this.tokens = tokens;
    this.element = document.createElement("span");
    this.element.className = "t";
    this.write(text);
    shade(this.element, tokens.every((token) => token.nats !== null) ? this.nats : null);
  }

  get nats() {
    return this.tokens.reduce((sum, token) => sum + token.nats, 0);
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
