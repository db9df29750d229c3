// A column: which model it is, and a text of its own whose tokens can be stepped through.

import { whole } from "./playground_tokens.js";

const nats = (value) => (value === null || value === undefined ? "not measured yet" : `${value.toFixed(3)} nats per character`);

const choices = (select, options, chosen) => {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value, false, value === chosen)));
  select.value = chosen;
  select.disabled = options.length < 2;
};

const millions = (number) => (number >= 1e6 ? `${(number / 1e6).toFixed(2)} M` : whole(number));

export class Column {
  // `chosen(model)` and `removed()` are called for what a person does to the head.
  constructor(kind, offer, model, { chosen, removed }) {
    this.offer = offer;
    this.element = document.getElementById(kind).content.cloneNode(true).firstElementChild;
    this.text = this.find(".story");
    this.units = [];
    this.active = -1;
    for (const part of ["arm", "seed", "checkpoint"]) {
      this.find(`select.${part}`).addEventListener("change", (event) => chosen(this.changed(part, event.target.value)));
    }
    this.find(".remove").addEventListener("click", removed);
    this.choose(model);
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  get arm() {
    return this.offer.arms.find((arm) => arm.name === this.model.arm);
  }

  // The model that there is once one part of the choice is another: the others stay as near as they can.
  changed(part, value) {
    const wanted = { ...this.model, [part]: part === "seed" ? Number(value) : value };
    const { seeds } = this.offer.arms.find((arm) => arm.name === wanted.arm);
    const run = seeds.find((one) => one.seed === wanted.seed) ?? seeds[0];
    const checkpoint = run.checkpoints[wanted.checkpoint] ? wanted.checkpoint : Object.keys(run.checkpoints)[0];
    return { arm: wanted.arm, seed: run.seed, checkpoint };
  }

  choose(model) {
    this.model = model;
    const { arm } = this;
    const run = arm.seeds.find((one) => one.seed === model.seed);
    const point = run.checkpoints[model.checkpoint];
    const able = this.offer.arms.filter((one) => one.seeds.length);
    choices(this.find("select.arm"), able.map((one) => [one.name, one.name]), model.arm);
    choices(this.find("select.seed"), arm.seeds.map((one) => [String(one.seed), `seed ${one.seed}`]), String(model.seed));
    choices(this.find("select.checkpoint"), Object.keys(run.checkpoints).map((name) => [name, name]), model.checkpoint);
    const parts = [`step ${whole(point.step)}`, nats(point.nats_per_character)];
    if (arm.parameters) parts.push(`${millions(arm.parameters)} parameters`);
    if (!run.finished) parts.push("still in training");
    this.find(".facts").textContent = parts.join(" · ");
    this.element.style.setProperty("--c", arm.colour);
    this.find(".drawn").replaceChildren(document.getElementById("marks").content.children[arm.index].cloneNode(true));
  }

  // The place among the columns; the last one cannot be removed.
  number(at, count) {
    this.find("h2").textContent = `Model ${at + 1}: ${this.model.arm}, seed ${this.model.seed}, ${this.model.checkpoint}`;
    this.find(".remove").hidden = count < 2;
    const label = `What ${this.model.arm}, seed ${this.model.seed}, ${this.model.checkpoint}, makes of it`;
    this.text.setAttribute("aria-label", `${label}: arrow keys step through the tokens`);
  }

  at(element) {
    const own = element?.closest?.(".t");
    return own && this.text.contains(own) ? this.units.findIndex((unit) => unit.element === own) : -1;
  }

  // Marks one unit as the one that is spoken of; -1 for none.
  mark(index) {
    this.units[this.active]?.element.classList.remove("active");
    this.active = index;
    this.units[index]?.element.classList.add("active");
    return this.units[index];
  }

  // Where a key leads from the unit that is marked; null for keys that lead nowhere.
  step(key) {
    const last = this.units.length - 1;
    if (last < 0) return null;
    const to = { ArrowRight: this.active + 1, ArrowLeft: this.active < 0 ? last : this.active - 1, Home: 0, End: last }[key];
    return to === undefined ? null : Math.max(0, Math.min(last, to));
  }
}
