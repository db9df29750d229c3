// All that a page shows, as the fragment of its address: it is sent to no server and stands in no log.

export const SETTINGS = ["temperature", "top_k", "top_p", "min_p", "repetition_penalty", "characters", "seed"];

const word = (model) => `${model.arm}:${model.seed}:${model.checkpoint}`;

export const written = (state, run) => {
  const found = new URLSearchParams([["mode", state.mode]]);
  for (const model of state.models) found.append("model", word(model));
  found.set("prompt", state.prompt);
  for (const name of SETTINGS) found.set(name, state.sampling[name]);
  if (state.go_on) found.set("go_on", "1");
  if (state.tint) found.set("tint", "1");
  if (state.even) found.set("even", "1");
  if (state.text) found.set("text", state.text);
  if (run) found.set("run", "1");
  return "#" + found.toString();
};

// What a fragment says, over what the study says; models that the study lacks are told, and left out.
export const read = (fragment, usual, offer) => {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const sampling = { ...usual.sampling };
  for (const name of SETTINGS) {
    const value = Number(said.get(name));
    if (said.has(name) && said.get(name).trim() && Number.isFinite(value)) sampling[name] = value;
  }
  const models = [], missing = [];
  for (const one of said.getAll("model")) {
    const [, arm, seed, checkpoint] = /^(.*):(\d+):(best|last)$/.exec(one) ?? [];
    const run = offer.arms.find((other) => other.name === arm)?.seeds.find((other) => String(other.seed) === seed);
    if (run?.checkpoints[checkpoint]) models.push({ arm, seed: run.seed, checkpoint });
    else missing.push(one);
  }
  return {
    state: {
      mode: said.get("mode") === "surprise" ? "surprise" : "write",
      models: models.length ? models.slice(0, offer.limits.columns) : usual.models,
      prompt: said.get("prompt") ?? usual.prompt,
      text: said.get("text") ?? "",
      sampling,
      go_on: said.get("go_on") === "1",
      tint: said.get("tint") === "1",
      even: said.get("even") === "1",
    },
    missing,
    run: said.get("run") === "1",
  };
};
