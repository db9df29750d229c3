// The page is whole without this script: it only moves what already stands there.
"use strict";
(() => {
  document.documentElement.classList.add("live");
  for (const part of document.querySelectorAll(".live-only")) part.hidden = false;

  const link = (title) => Object.assign(document.createElement("a"), { href: `#${title.id}`, textContent: title.textContent });
  const titles = document.querySelectorAll("main > section > h2[id]");
  document.querySelector(".contents").replaceChildren(...[...titles].map(link));

  const told = document.getElementById("told");
  const tell = (handler, event, item, value) => {
    told.hidden = value === null || value === undefined || value === "";
    if (told.hidden) return;
    told.textContent = String(value);
    const room = document.documentElement.clientWidth - told.offsetWidth - 12;
    told.style.left = Math.max(8, Math.min(event.clientX + 14, room)) + "px";
    told.style.top = event.clientY + 16 + "px";
  };

  // Arms: one that is unticked in any legend is gone from all pictures, bars and stories.
  let view = null;
  const boxes = [...document.querySelectorAll('input[name="shown"]')];
  const gone = () => [...new Set(boxes.filter((box) => !box.checked).map((box) => Number(box.value)))];
  const COLOURS = 8; // which still pictures know arms by; with more arms some share one
  const drop = () => {
    for (const part of document.querySelectorAll("[data-arm]")) part.hidden = gone().includes(Number(part.dataset.arm));
    const kept = new Set(boxes.filter((box) => box.checked).map((box) => box.value % COLOURS));
    for (let colour = 0; colour < COLOURS; colour++) {
      const marks = ["fill", "stroke"].map((part) => `fieldset.legend ~ .chart .still [${part}="var(--arm-${colour})"]`).join();
      for (const mark of document.querySelectorAll(marks)) mark.style.display = kept.has(colour) ? "" : "none";
    }
    view?.signal("gone", gone()).runAsync();
  };
  for (const box of boxes) {
    box.addEventListener("change", () => {
      for (const other of boxes) if (other.value === box.value) other.checked = box.checked;
      drop();
    });
  }
  if (gone().length) drop();

  // Stories: one beginning and one checkpoint at a time.
  const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`)?.value;
  const show = () => {
    for (const part of document.querySelectorAll("[data-prompt]")) part.hidden = part.dataset.prompt !== chosen("prompt");
    for (const part of document.querySelectorAll("[data-point]")) part.hidden = part.dataset.point !== chosen("point");
  };
  for (const input of document.querySelectorAll('input[name="prompt"], input[name="point"]')) {
    input.addEventListener("change", show);
  }
  if (document.querySelector("[data-prompt]")) show();

  // Curves: the still pictures give way to a chart that answers.
  const curves = JSON.parse(document.getElementById("charts").textContent).curves;
  const figure = document.getElementById("chart-curves");
  if (!figure || !window.vegaEmbed || !Object.keys(curves).length) return;
  const box = document.createElement("div");
  box.className = "moving";
  let layout = null, width = 0, turn = 0;

  const fit = async () => {
    const room = Math.floor(figure.clientWidth);
    if (!room || room === width) return;
    width = room;
    const wanted = room < 560 ? "narrow" : room < 900 ? "medium" : "wide";
    if (wanted !== layout) {
      layout = wanted;
      const mine = ++turn;
      const specification = structuredClone(curves[wanted]);
      const found = await window.vegaEmbed(box, specification, {
        mode: "vega", ast: true, logLevel: 1, actions: false, renderer: "svg", tooltip: tell,
      });
      if (mine !== turn) return found.finalize();
      view = found.view;
      figure.classList.add("moves");
    }
    if (!view) return;
    const { left, right } = curves[layout].padding;
    await view.width(width - left - right).signal("axis", chosen("axis") || "step").signal("gone", gone()).runAsync();
    box.querySelector("svg")?.setAttribute("aria-hidden", "true");
  };
  figure.append(box);
  for (const input of document.querySelectorAll('input[name="axis"]')) {
    input.addEventListener("change", () => view?.signal("axis", input.value).runAsync());
  }
  new ResizeObserver(fit).observe(figure);
})();
