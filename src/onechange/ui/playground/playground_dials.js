// The settings as numbers, some with a slider beside them. Top-k's is logarithmic: from 1 to all tokens there are.

import { SETTINGS } from "./playground_link.js";

const by = (id) => document.getElementById(id);
const DICE = 10_000;

export const dials = (offer, changed) => {
  const most = Math.max(2, ...offer.arms.map((arm) => arm.vocabulary ?? 2));
  const toSlider = { top_k: (value) => (100 * Math.log(value)) / Math.log(most) };
  const fromSlider = { top_k: (place) => Math.round(most ** (place / 100)) };
  by("characters").max = offer.limits.characters;

  const slide = (name) => {
    const slider = by(`${name}-slider`), value = by(name).value;
    if (!slider) return;
    slider.value = (toSlider[name] ?? Number)(Number(value));
    slider.setAttribute("aria-valuetext", value);
  };
  for (const name of SETTINGS) {
    const number = by(name), slider = by(`${name}-slider`);
    number.addEventListener("input", () => {
      if (!number.checkValidity() || number.value === "") return;
      slide(name);
      changed(name, Number(number.value));
    });
    slider?.addEventListener("input", () => {
      number.value = String((fromSlider[name] ?? Number)(Number(slider.value)));
      slider.setAttribute("aria-valuetext", number.value);
      changed(name, Number(number.value));
    });
  }
  // What is wrong must be seen to be put right.
  by("ask").addEventListener("invalid", () => (by("ask").querySelector("details").open = true), true);
  by("dice").addEventListener("click", () => {
    by("seed").value = String(crypto.getRandomValues(new Uint32Array(1))[0] % DICE);
    changed("seed", Number(by("seed").value));
  });
  return {
    show: (sampling) => {
      for (const name of SETTINGS) {
        by(name).value = String(sampling[name]);
        slide(name);
      }
    },
  };
};
