// Where it helps: one change, one axis and one arm at a time, and the text coloured anew.
"use strict";
(() => {
  const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`)?.value;
  const onChange = (name, show) => {
    const inputs = document.querySelectorAll(`input[name="${name}"]`);
    for (const input of inputs) input.addEventListener("change", show);
    if (inputs.length) show();
  };
  for (const name of ["pair", "view", "surprised", "apart"]) {
    onChange(name, () => {
      for (const part of document.querySelectorAll(`[data-${name}]`)) part.hidden = part.dataset[name] !== chosen(name);
    });
  }

  const heat = JSON.parse(document.getElementById("charts").textContent).where;
  if (!heat) return;
  const written = (value, sign) => {
    const text = Math.abs(value).toFixed(heat.digits);
    if (Number(text) === 0) return text;
    return (value < 0 ? "−" : sign) + text;
  };
  const colour = (text, values, most, sign) => {
    values.forEach((value, number) => {
      const mark = text.children[number];
      mark.className = value > 0 || !sign ? "more" : "less";
      mark.style.setProperty("--v", Math.min(1, Math.abs(value) / most).toFixed(2));
      mark.title = written(value, sign);
    });
  };
  const surprised = document.getElementById("heat-surprised"), apart = document.getElementById("heat-apart");
  onChange("surprised", () => {
    const arm = chosen("surprised");
    colour(surprised, heat.arms[arm], heat.most, "");
  });
  onChange("apart", () => {
    const arm = chosen("apart"), parent = heat.parents[arm];
    colour(apart, heat.arms[arm].map((value, number) => value - heat.arms[parent][number]), heat.apart[arm], "+");
  });
})();
