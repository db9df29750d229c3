// Where two models differ most on one text: by words, since their tokens are not the same.

import { apart } from "./playground_reading.js";

const by = (id) => document.getElementById(id);
const SHOWN = 8, AROUND = 24;
let chosen = { one: 0, other: -1 };

const label = (reading, number) => `${number + 1}: ${reading.model.arm}, seed ${reading.model.seed}, ${reading.model.checkpoint}`;

const shortened = (characters, start, end) => {
  const before = characters.slice(Math.max(0, start - AROUND), start).join("");
  const after = characters.slice(end, end + AROUND).join("");
  return [start > AROUND ? `…${before}` : before, after + (end + AROUND < characters.length ? "…" : "")];
};

const item = (found, characters, go) => {
  const element = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  const space = characters.slice(found.start, found.end).findIndex((character) => character.trim());
  const start = found.start + Math.max(0, space); // the word itself, without what parts it from the last
  const [before, after] = shortened(characters, start, found.end);
  const text = document.createElement("span"), word = document.createElement("mark"), told = document.createElement("span");
  word.textContent = characters.slice(start, found.end).join("");
  text.className = "passage";
  text.append(before, word, after);
  told.className = "s";
  told.textContent = `${found.ours.toFixed(1)} and ${found.theirs.toFixed(1)} nats`;
  button.append(text, told);
  button.addEventListener("click", () => go(start));
  element.append(button);
  return element;
};

// Shows the list for the two readings that are chosen, or nothing where there are no two; `go` leads to a character.
export const differences = (readings, text, go) => {
  const ready = readings.map((reading, number) => ({ reading, number })).filter((each) => each.reading.nats);
  by("apart").hidden = ready.length < 2;
  if (ready.length < 2) return;
  const pick = (place, otherwise) => ready.find((each) => each.number === chosen[place]) ?? otherwise;
  let one = pick("one", ready[0]), other = pick("other", ready.at(-1));
  if (one === other) other = ready.find((each) => each !== one);
  for (const [place, value] of [["one", one], ["other", other]]) {
    const select = by(place);
    select.replaceChildren(...ready.map((each) => new Option(label(each.reading, each.number), each.number)));
    select.value = String(value.number);
    select.onchange = () => {
      chosen[place] = Number(select.value);
      differences(readings, text, go);
    };
  }
  const found = apart(text, one.reading.nats, other.reading.nats, SHOWN);
  by("apart-told").textContent =
    "Nats of each word and the space before it, under the first and the second; a token’s are spread evenly over its characters.";
  by("differences").replaceChildren(...found.map((each) => item(each, [...text], go)));
};
