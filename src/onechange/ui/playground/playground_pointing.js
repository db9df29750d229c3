// Pointing at tokens, by mouse, finger or keys: a card says what the model thought of one, all readings go to its place.

import { fill, place, sentence } from "./playground_card.js";
import { Reading } from "./playground_reading.js";

const narrow = matchMedia("(max-width: 40rem)"), touched = matchMedia("(hover: none)");

const reveal = (column, unit) => {
  const around = column.text.getBoundingClientRect(), inside = unit.element.getBoundingClientRect();
  if (inside.top < around.top) column.text.scrollTop -= around.top - inside.top + 8;
  else if (inside.bottom > around.bottom) column.text.scrollTop += inside.bottom - around.bottom + 8;
};

// `columns` gives the page's columns as they are now, `tell` says a line aloud.
export const pointing = (card, columns, tell) => {
  let beside = null; // what the card speaks of

  const hide = () => {
    if (card.hidden) return;
    card.hidden = true;
    beside = null;
    for (const { story } of columns()) story.mark(-1);
  };

  // Every model is shown at the same character.
  const stand = (character, from) => {
    for (const { reading } of columns()) {
      const unit = reading.show(character);
      if (unit && reading !== from) reveal(reading, unit);
    }
  };

  const speak = (column, index, { docked = narrow.matches, aloud = false } = {}) => {
    const unit = column.mark(index);
    if (column instanceof Reading) stand(unit.start, column);
    else {
      for (const { story } of columns()) if (story !== column) story.mark(-1);
      fill(card, unit, column.vocabulary, "taken");
      card.hidden = false;
      place(card, (beside = unit.element), docked);
    }
    if (aloud) tell(sentence(unit));
  };

  const follow = (column) => {
    const { text } = column;
    text.addEventListener("pointerover", (event) => {
      const index = event.pointerType === "mouse" ? column.at(event.target) : -1;
      if (index >= 0) speak(column, index);
    });
    text.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    text.addEventListener("click", (event) => {
      const index = column.at(event.target);
      if (index < 0) hide();
      else speak(column, index, { docked: narrow.matches || touched.matches });
    });
    text.addEventListener("keydown", (event) => {
      const index = event.ctrlKey || event.metaKey || event.altKey ? null : column.step(event.key);
      if (index === null) return;
      event.preventDefault();
      column.units[index].element.scrollIntoView({ block: "nearest" });
      speak(column, index, { aloud: true });
    });
    text.addEventListener("blur", hide);
  };

  const moved = () => {
    if (!beside) return;
    const { top, bottom } = beside.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) hide();
    else place(card, beside, card.classList.contains("docked"));
  };
  addEventListener("pointerdown", (event) => event.target.closest(".story") ?? hide());
  addEventListener("scroll", moved, { passive: true });
  addEventListener("resize", moved);
  return { follow, hide, stand };
};
