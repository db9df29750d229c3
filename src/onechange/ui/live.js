// The live page: where every run stands above the report, and the report itself when there is a new one.
import { exchange, follow, versionOf } from "./exchange.js";
import { ago, clock, count, duration } from "./words.js";

const MANY = 6; // runs above which only those that need a look are shown
const STATES = { running: "Running", finished: "Finished", failed: "Failed", stopped: "Stopped" };
const part = (selector) => document.querySelector(`#standing ${selector}`);
const rows = new Map();
let question = document.title;
let last = null;
let all = false;
let busy = false;

const key = (run) => `${run.seed}\0${run.arm}`;
const runs = (number) => `${count(number)} ${number === 1 ? "run" : "runs"}`;

/** An element with text or elements in it; text is never read as markup. */
function make(tag, attributes, ...content) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...content);
  return found;
}

function makeRow(run) {
  const cell = (label, ...more) => make("td", { role: "cell", "data-label": label, class: more.length ? "" : "n" }, ...more);
  const bar = make("progress", { "aria-label": `Steps of ${run.arm}, seed ${run.seed}` });
  const steps = make("span", { class: "v" });
  const state = make("span", {});
  const row = {
    bar,
    steps,
    state,
    nats: cell("nats per character"),
    left: cell("time left"),
    heard: cell("last heard"),
    mark: make("span", { class: "symbol", "aria-hidden": "true" }),
  };
  const name = make("th", { role: "rowheader", scope: "row" }, row.mark, run.arm);
  const seed = cell("seed");
  seed.textContent = run.seed;
  row.element = make("tr", { role: "row" }, name, seed, cell("state", state), cell("steps", bar, steps), row.nats, row.left, row.heard);
  return row;
}

/** What a run does, in words; one that trained its last step is measured, and one that waits has a study that runs. */
function words(run, study) {
  if (run.state === "running") return run.step >= run.steps && run.steps ? "measuring, sampling" : "training";
  return run.state === "not started" && study === "running" ? "waiting" : run.state;
}

function showRow(run, study) {
  const row = rows.get(key(run)) ?? makeRow(run);
  rows.set(key(run), row);
  row.run = run;
  row.element.className = run.state.replace(" ", "-");
  if (run.mark !== null) {
    row.mark.textContent = run.symbol;
    row.mark.style.color = `var(--arm-${run.mark % 8})`;
  }
  row.state.textContent = words(run, study);
  row.bar.max = run.steps || 1;
  row.bar.style.color = run.state === "running" && run.mark !== null ? `var(--arm-${run.mark % 8})` : "";
  row.bar.value = run.state === "finished" ? row.bar.max : run.step;
  row.steps.textContent = `${count(run.step)} of ${count(run.steps)}`;
  row.nats.textContent = typeof run.validation_nats_per_character === "number" ? run.validation_nats_per_character.toFixed(4) : "";
  row.left.textContent = run.state === "running" && run.seconds_left > 0 ? duration(run.seconds_left) : "";
  return row.element;
}

function far(standing) {
  const finished = `${count(standing.finished)} of ${runs(standing.of)} finished`;
  if (standing.state === "finished") {
    const seconds = standing.runs.reduce((sum, run) => sum + run.seconds, 0);
    const when = standing.heard ? `, ${ago(new Date(standing.heard))}` : "";
    return `${runs(standing.of)}, ${duration(seconds)} of training${when}`;
  }
  if (standing.state !== "running") return `${finished}; run the study again with --resume to go on`;
  if (standing.runs.every((run) => run.state === "not started")) return "text and tokenizers are being prepared";
  if (standing.seconds_left === null) return finished;
  const end = new Date(Date.now() + standing.seconds_left * 1000);
  return `${finished}, about ${duration(standing.seconds_left)} left, until ${clock(end)}`;
}

function show(standing) {
  part(".now").hidden = false;
  if (standing.error) {
    part(".now").dataset.state = "damaged";
    part(".state").textContent = "Cannot be read";
    part(".far").textContent = standing.error;
    return;
  }
  part(".now").dataset.state = standing.state;
  part(".state").textContent = STATES[standing.state];
  part(".far").textContent = far(standing);
  part(".all").value = standing.share;
  const many = standing.runs.length > MANY;
  const shown = standing.runs.filter((run) => all || !many || !["finished", "not started"].includes(run.state));
  const elements = standing.runs.map((run) => showRow(run, standing.state));
  const wanted = elements.filter((_, index) => shown.includes(standing.runs[index]));
  const body = part("tbody");
  if (wanted.length !== body.children.length || wanted.some((row, index) => row !== body.children[index])) body.replaceChildren(...wanted);
  part("table").hidden = !wanted.length;
  part(".more").hidden = !many;
  part(".more").textContent = all ? "Show only what runs" : `Show all ${runs(standing.runs.length)}`;
  const reasons = standing.runs.filter((run) => run.error);
  part(".reasons").replaceChildren(...reasons.map((run) => make("li", {}, `${run.arm}, seed ${run.seed}, failed: ${run.error}`)));
  document.title = standing.state === "running" ? `${Math.floor(standing.share * 100)}% · ${question}` : question;
  tellTimes();
}

/** What changed for the better or worse is said to those who do not see it; progress is not. */
function say(standing) {
  const before = new Map((last?.runs ?? []).map((run) => [key(run), run.state]));
  const ended = standing.runs.filter((run) => before.get(key(run)) === "running" && run.state !== "running");
  const told = ended.map((run) => `${run.arm}, seed ${run.seed}: ${run.state}.`);
  if (last && last.state !== standing.state) told.push(`The study is ${standing.state}.`);
  if (told.length) part("[role=status]").textContent = told.join(" ");
}

function tellTimes() {
  for (const { run, heard } of rows.values()) heard.textContent = run.heard ? ago(new Date(run.heard)) : "";
}

async function renew({ version }) {
  if (busy || version === versionOf(document)) return;
  if (document.querySelector("header.waiting")) return location.reload(); // nothing is lost, and the policy is another
  busy = true;
  try {
    if (!(await exchange())) return;
    question = document.title;
    if (last) show(last);
    part("[role=status]").textContent = "The report has been brought up to date.";
  } finally {
    busy = false;
  }
}

part(".more").addEventListener("click", () => {
  all = !all;
  show(last);
});
setInterval(tellTimes, 1000);
follow("events", {
  standing: (standing) => {
    if (!standing.error) say(standing);
    show(standing);
    if (!standing.error) last = standing;
  },
  page: renew,
});
