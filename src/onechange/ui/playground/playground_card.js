// What a model thought of a token, and of those that it beat: for the eye as bars, and in words.

import { percent, visible, whole } from "./playground_tokens.js";

const made = (tag, kind, text) => {
  const element = document.createElement(tag);
  element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
};

const ordinal = (rank) => {
  const end = rank % 100 > 10 && rank % 100 < 14 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[rank % 10] ?? "th");
  return `${whole(rank)}${end}`;
};

const ranked = (token, vocabulary) => `${token.rank === 1 ? "" : `${ordinal(token.rank)} `}likeliest of ${whole(vocabulary)}`;

const row = (other, own, most, taken) => {
  const out = other.allowed === false;
  const item = made("li", own ? "own" : out ? "out" : "");
  const name = made(out ? "s" : "span", "name", visible(other.token));
  const track = made("span", "track");
  const bar = made("i", "");
  bar.style.width = `${(100 * other.p) / (most || 1)}%`;
  track.append(bar);
  const why = own ? taken : out ? "ruled out" : "";
  item.append(name, track, made("span", "p", percent(other.p)), made("span", "why", why));
  return item;
};

const one = (token, vocabulary, alternatives, taken) => {
  const part = made("div", "thought");
  const head = made("p", "head");
  head.append(made("b", "name", visible(token.token)), made("span", "p", percent(token.p)));
  const told = [ranked(token, vocabulary), `${token.nats === null ? "no number of" : token.nats.toFixed(2)} nats`];
  const notes = [made("p", "note", told.join(" · "))];
  if (token.share !== undefined) {
    const told = token.allowed === 1 ? "the only one allowed" : `chosen with ${percent(token.share)}, among ${whole(token.allowed)} allowed`;
    notes.push(made("p", "note", told));
  }
  const bars = made("ol", "bars");
  const shown = token.alternatives.slice(0, alternatives);
  const most = Math.max(token.p, ...shown.map((other) => other.p));
  const rows = shown.map((other) => row(other, other.id === token.id, most, taken));
  if (!shown.some((other) => other.id === token.id)) {
    rows.push(row({ ...token, allowed: undefined }, true, most, taken));
    shown.push(token);
  }
  const others = vocabulary - shown.length;
  if (others > 0) {
    const left = Math.max(0, 1 - shown.reduce((sum, other) => sum + other.p, 0));
    const rest = row({ token: "", p: left }, false, most);
    rest.className = "rest";
    rest.querySelector(".track").className = ""; // they are many: their bar would say that one of them is likely
    rest.querySelector(".name").textContent = others === 1 ? "the other one" : `${whole(others)} others`;
    rows.push(rest);
  }
  bars.append(...rows);
  part.append(head, ...notes, bars);
  return part;
};

// Fills `element`; where several tokens share a character, one below another. `taken` is said of the token itself.
export const fill = (element, unit, vocabulary, taken) => {
  const several = unit.tokens.length > 1;
  element.replaceChildren(...unit.tokens.map((token) => one(token, vocabulary, several ? 3 : 8, taken)));
  if (several) element.prepend(made("p", "note", `${unit.tokens.length} tokens share this character`));
};

// The same in a sentence, for those who do not see it.
export const sentence = (unit) =>
  unit.tokens
    .map((token) => {
      const beaten = token.alternatives.filter((other) => other.id !== token.id).slice(0, 3);
      const others = beaten.map((other) => `“${visible(other.token)}” ${percent(other.p)}${other.allowed === false ? ", ruled out" : ""}`);
      return `“${visible(token.token)}” ${percent(token.p)}, rank ${whole(token.rank)}. Others: ${others.join("; ")}.`;
    })
    .join(" ");

// Puts the card beside what it speaks of; on a small screen, or under a finger, along the lower edge.
export const place = (card, beside, docked) => {
  card.classList.toggle("docked", docked);
  card.style.left = card.style.top = "";
  if (docked) return;
  const around = beside.getClientRects()[0] ?? beside.getBoundingClientRect();
  const room = document.documentElement;
  const left = Math.max(8, Math.min(around.left, room.clientWidth - card.offsetWidth - 8));
  const below = around.bottom + 8 + card.offsetHeight <= room.clientHeight;
  card.style.left = `${left}px`;
  card.style.top = `${below || around.top < card.offsetHeight + 8 ? around.bottom + 8 : around.top - card.offsetHeight - 8}px`;
};
