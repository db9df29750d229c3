// What is asked of the server. Where it is busy, the same is asked again a little later, and a person is told.

const PLACE = new URL("playground/", location.href.replace(/[?#].*$/, ""));
const TRIES = 8;

const later = (seconds, signal) =>
  new Promise((done, fail) => {
    const timer = setTimeout(done, seconds * 1000);
    signal?.addEventListener("abort", () => (clearTimeout(timer), fail(signal.reason)), { once: true });
  });

const error = async (answer) => {
  try {
    return new Error((await answer.json()).error);
  } catch {
    return new Error(`the server answers ${answer.status}`);
  }
};

const asked = async (what, options, busy) => {
  for (let tries = 1; ; tries += 1) {
    let answer;
    try {
      answer = await fetch(new URL(what, PLACE), { ...options, cache: "no-store" });
    } catch (problem) {
      throw options.signal?.aborted ? problem : new Error("the server does not answer");
    }
    if (answer.ok) return answer;
    if (answer.status !== 503 || tries === TRIES) throw await error(answer);
    busy?.((await error(answer)).message);
    const wait = Number(answer.headers.get("Retry-After")) || 1;
    await later(Math.min(8, wait * 2 ** (tries - 1)) * (0.75 + Math.random() / 2), options.signal);
  }
};

const posted = (body, signal) => ({
  method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal,
});

export const models = async () => (await asked("models", {})).json();

export const post = async (what, body, { signal, busy } = {}) => (await asked(what, posted(body, signal), busy)).json();

// Gives every line of the answer to `take` as it comes, those that come together as one list.
export const lines = async (what, body, { signal, busy, take }) => {
  const answer = await asked(what, posted(body, signal), busy);
  const reader = answer.body.getReader(), decoder = new TextDecoder();
  for (let rest = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = parts.pop();
    if (parts.length) take(parts.map((part) => JSON.parse(part)));
  }
};
