// Bring the page up to date in place. What the reader did stays: the place, the switches, what is open, the focus.

const REACHED = "a[href], button, input, select, summary, [tabindex]";
const blocks = (root) => [...root.querySelector("main").children].filter((part) => part.id !== "standing");
const name = (block) => block.getAttribute("aria-labelledby") || block.tagName;
const inline = (root) => [...root.querySelectorAll("script:not([src]):not([type])")].map((script) => script.textContent);

/** Which version of a page this is, by what its server wrote in its head. */
export const versionOf = (root) => root.querySelector('meta[name="onechange-version"]')?.content ?? "";

/** Fetch this page again and put what it says now in place of what it said. Returns whether it changed. */
export async function exchange() {
  const answer = await fetch(location.pathname, { cache: "no-store" });
  if (!answer.ok) return false;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (versionOf(next) === versionOf(document)) return false;
  const scripts = inline(next);
  if (scripts.join("\0") !== inline(document).join("\0")) {
    location.reload(); // what may run on a page is settled when it is loaded
    return true;
  }
  const kept = remember();
  for (const block of blocks(document)) block.remove();
  document.querySelector("main").append(...blocks(next).map((block) => document.adoptNode(block)));
  for (const kind of ["style", "#charts", 'meta[name="onechange-version"]']) {
    const [old, fresh] = [document.querySelector(kind), next.querySelector(kind)];
    if (old && fresh) old.replaceWith(document.adoptNode(fresh));
  }
  document.title = next.title;
  restore(kept);
  if (scripts.length) {
    const again = document.createElement("script");
    again.textContent = scripts.at(-1);
    [...document.scripts].filter((script) => script.textContent === again.textContent).at(-1).replaceWith(again);
  }
  return true;
}

function remember() {
  const found = { open: new Set(), chosen: [], moved: [], place: null, focus: null };
  for (const block of blocks(document)) {
    const key = name(block);
    block.querySelectorAll("details").forEach((part, index) => part.open && found.open.add(`${key} ${index}`));
    for (const input of block.querySelectorAll("input")) found.chosen.push([input.name, input.value, input.checked]);
    block.querySelectorAll(".scroll").forEach((part, index) => part.scrollLeft && found.moved.push([key, index, part.scrollLeft]));
    const { top, bottom } = block.getBoundingClientRect();
    if (found.place === null && bottom > 0 && scrollY > 0) found.place = [key, top];
    const focus = [...block.querySelectorAll(REACHED)].indexOf(document.activeElement);
    if (focus >= 0) found.focus = [key, focus];
  }
  return found;
}

function restore(kept) {
  const found = new Map(blocks(document).map((block) => [name(block), block]));
  for (const [key, block] of found) {
    block.querySelectorAll("details").forEach((part, index) => (part.open = kept.open.has(`${key} ${index}`)));
  }
  for (const [group, value, checked] of kept.chosen) {
    for (const input of document.getElementsByName(group)) if (input.value === value) input.checked = checked;
  }
  for (const [key, index, left] of kept.moved) {
    const part = found.get(key)?.querySelectorAll(".scroll")[index];
    if (part) part.scrollLeft = left;
  }
  if (kept.place) {
    const block = found.get(kept.place[0]);
    if (block) scrollBy(0, block.getBoundingClientRect().top - kept.place[1]);
  }
  if (kept.focus) found.get(kept.focus[0])?.querySelectorAll(REACHED)[kept.focus[1]]?.focus({ preventScroll: true });
}

const AGAIN = 3000; // milliseconds until the server is asked again
const ASIDE = 30000; // the same while nobody sees the page, which then holds no connection

/** Listen to the events at `address`: `hear` maps their names to what is done with their content. */
export function follow(address, hear) {
  const away = document.querySelector(".away");
  let source = null;
  let timer = 0;
  let over = false;
  const close = () => {
    source?.close();
    source = null;
    clearTimeout(timer);
  };
  const listen = () => {
    close();
    if (over) return;
    source = new EventSource(address);
    source.onopen = () => (away.hidden = true);
    source.onerror = () => {
      away.hidden = false;
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(listen, AGAIN);
    };
    for (const [kind, act] of Object.entries(hear)) {
      source.addEventListener(kind, (event) => {
        act(JSON.parse(event.data));
        if (document.hidden) rest();
      });
    }
    source.addEventListener("end", () => {
      over = true;
      close();
    });
  };
  const rest = () => {
    close();
    if (!over) timer = setTimeout(listen, ASIDE);
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  listen();
}
