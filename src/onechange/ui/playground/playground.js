// The playground: the state that its controls and its address share, and the columns that show what the models do.

import { dials } from "./playground_dials.js";
import { differences } from "./playground_differences.js";
import { read, written } from "./playground_link.js";
import { pointing } from "./playground_pointing.js";
import { Reading } from "./playground_reading.js";
import { models, post } from "./playground_server.js";
import { Story } from "./playground_story.js";
import { legend } from "./playground_tokens.js";

const by = (id) => document.getElementById(id);
let offer, state, dial, columns = [], writing = null, measuring = null, own = "";

const notice = (line) => {
  by("notice").textContent = line;
  by("notice").hidden = !line;
};
const tell = (line) => (by("told").textContent = line);
const { follow, hide, stand } = pointing(by("card"), () => columns, tell);

// The address follows the state, a little later, so that a reload and a bookmark keep it.
let saving = 0;
const save = () => {
  clearTimeout(saving);
  saving = setTimeout(() => {
    own = written(state, false);
    history.replaceState(null, "", own);
  }, 300);
};

// Columns: one story and one reading for each model.

const add = (model) => {
  const column = {};
  const hands = {
    chosen: (other) => {
      state.models[columns.indexOf(column)] = other;
      for (const part of [column.story, column.reading]) {
        part.choose(other);
        part.clear();
      }
      arranged();
      ready(column);
      if (measured()) measure([column]);
    },
    removed: () => {
      const at = columns.indexOf(column);
      for (const part of [column.story, column.reading]) part.clear();
      columns.splice(at, 1);
      state.models.splice(at, 1);
      arranged();
      hide();
      document.querySelector(`#panel-${state.mode} .add`).focus();
    },
  };
  column.story = new Story(offer, model, hands);
  column.reading = new Reading(offer, model, hands);
  column.reading.colour(state.even);
  for (const part of [column.story, column.reading]) follow(part);
  column.story.find(".use").addEventListener("click", () => use(column.story.whole));
  columns.push(column);
  ready(column);
  return column;
};

const arranged = () => {
  for (const [id, part] of [["stories", "story"], ["readings", "reading"]]) {
    const parts = columns.map((column) => column[part]);
    parts.forEach((one, at) => one.number(at, parts.length));
    by(id).replaceChildren(...parts.map((one) => one.element));
  }
  for (const button of document.querySelectorAll(".add")) button.disabled = columns.length >= offer.limits.columns;
  compare();
  save();
};

// The arm that is not shown yet comes first, then the other checkpoint of the last one.
const another = () => {
  const able = offer.arms.filter((arm) => arm.seeds.length);
  const shown = state.models.map((model) => model.arm);
  const arm = able.find((one) => !shown.includes(one.name)) ?? able.at(-1);
  const [run] = arm.seeds;
  const checkpoint = shown.includes(arm.name) && run.checkpoints.last ? "last" : Object.keys(run.checkpoints)[0];
  state.models.push({ arm: arm.name, seed: run.seed, checkpoint });
  const column = add(state.models.at(-1));
  arranged();
  if (measured()) measure([column]);
  column[state.mode === "write" ? "story" : "reading"].find("select").focus();
};

// A model is read into memory when it is chosen, so that it writes at once when it is asked to.
const ready = (column) => post("load", column.story.model).catch((problem) => column.story.fail(problem.message));

// Writing.

const busy = (going) => {
  by("stop").disabled = !going;
  by("stories").setAttribute("aria-busy", String(going));
};

const write = async () => {
  stop();
  hide();
  const mine = (writing = new AbortController());
  const { characters, seed, ...rest } = state.sampling;
  const asked = { prompt: state.prompt, sampling: { seed, characters, ...rest }, go_on: state.go_on };
  busy(true);
  tell("writing");
  await Promise.all(columns.map((column) => column.story.write(asked, mine.signal)));
  if (writing !== mine) return;
  writing = null;
  busy(false);
  tell(columns.map((column) => `${column.story.model.arm}: ${column.story.count.textContent}`).join(". "));
};

const stop = () => {
  writing?.abort();
  writing = null;
  busy(false);
};

// Surprise.

const measured = () => measuring !== null && measuring.text === state.text && state.text !== "";

const measure = async (some = columns) => {
  if (some === columns) measuring?.control.abort();
  if (some === columns) measuring = { text: state.text, control: new AbortController() };
  by("apart").hidden = true;
  const mine = measuring;
  await Promise.all(some.map((column) => column.reading.read(mine.text, mine.control.signal)));
  if (mine !== measuring) return;
  compare();
  tell(columns.map((column) => `${column.reading.model.arm}: ${column.reading.find(".figure").textContent}`).join(". "));
};

const use = (text) => {
  state.text = by("text").value = text;
  mode("surprise");
  measure();
  by("text").focus();
  save();
};

const compare = () => differences(columns.map((column) => column.reading), measuring?.text ?? "", (at) => stand(at));

// Modes.

const mode = (name) => {
  state.mode = name;
  hide();
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    by(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  save();
};

const copy = async (button, run) => {
  const address = new URL(written(state, run), location.href).href;
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
    tell("link copied");
  } catch {
    history.replaceState(null, "", address); // no clipboard without https: the address line has it
    button.textContent = "It is in the address line";
  }
  setTimeout(() => (button.textContent = "Copy link"), 2500);
};

// The whole state from an address.
const restore = (usual) => {
  stop();
  measuring?.control.abort();
  measuring = null;
  const found = read(location.hash, usual, offer);
  state = found.state;
  columns = [];
  for (const model of state.models) add(model);
  notice(found.missing.length ? `This study has no ${found.missing.join(", no ")}: left out.` : "");
  by("prompt").value = state.prompt;
  by("text").value = state.text;
  by("go_on").checked = state.go_on;
  by("tint").checked = state.tint;
  by("even").checked = state.even;
  tint();
  dial.show(state.sampling);
  mode(state.mode);
  arranged();
  if (found.run) state.mode === "write" ? write() : measure();
};

const tint = () => {
  by("stories").classList.toggle("tinted", state.tint);
  by("scale").hidden = !state.tint;
  legend(by("scale-read"), state.even);
  for (const { reading } of columns) reading.colour(state.even);
};

const suggest = () => {
  const buttons = offer.prompts.map((prompt) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = prompt || "begin a story";
    button.addEventListener("click", () => {
      state.prompt = by("prompt").value = prompt;
      save();
    });
    return button;
  });
  by("prompts").replaceChildren(...buttons);
};

const listen = (usual) => {
  by("prompt").addEventListener("input", (event) => ((state.prompt = event.target.value), save()));
  by("text").addEventListener("input", (event) => ((state.text = event.target.value), save()));
  by("go_on").addEventListener("change", (event) => ((state.go_on = event.target.checked), save()));
  for (const name of ["tint", "even"]) {
    by(name).addEventListener("change", (event) => ((state[name] = event.target.checked), tint(), save()));
  }
  for (const button of document.querySelectorAll(".add")) button.addEventListener("click", another);
  by("ask").addEventListener("submit", (event) => (event.preventDefault(), write()));
  by("read").addEventListener("submit", (event) => (event.preventDefault(), measure()));
  by("stop").addEventListener("click", stop);
  by("copy").addEventListener("click", (event) => copy(event.target, columns.some((column) => column.story.written)));
  by("copy-read").addEventListener("click", (event) => copy(event.target, measured()));
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    tab.addEventListener("click", () => mode(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      mode(state.mode === "write" ? "surprise" : "write");
      by(`tab-${state.mode}`).focus();
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) by(state.mode === "write" ? "ask" : "read").requestSubmit();
    else if (event.key === "Escape") {
      hide();
      stop();
    }
  });
  addEventListener("hashchange", () => location.hash !== own && restore(usual));
  addEventListener("pagehide", stop);
};

const begin = async () => {
  try {
    offer = await models();
  } catch (problem) {
    return notice(`The playground cannot begin: ${problem.message}`);
  }
  const able = offer.arms.filter((arm) => arm.seeds.length);
  if (!able.length) return notice("No model can write yet: the first checkpoint comes with the first evaluation.");
  const first = (arm) => ({ arm: arm.name, seed: arm.seeds[0].seed, checkpoint: Object.keys(arm.seeds[0].checkpoints)[0] });
  const shown = able.length > 1 ? [able[0], able.at(-1)] : [able[0]];
  const usual = { models: shown.map(first), prompt: offer.prompts[0] ?? "", sampling: offer.sampling };
  legend(by("scale"), false);
  dial = dials(offer, (name, value) => ((state.sampling[name] = value), save()));
  by("prompt").maxLength = offer.limits.prompt;
  by("text").maxLength = offer.limits.text;
  suggest();
  listen(usual);
  by("playground").hidden = false;
  restore(usual);
};

begin();
