// A column in which a model writes.

import { Column } from "./playground_column.js";
import { lines } from "./playground_server.js";
import { Growing, whole } from "./playground_tokens.js";

const WHY = {
  story: "the model ended its story",
  length: "full length",
  time: "stopped: it took too long",
  server: "stopped: the server is ending",
};

export class Story extends Column {
  constructor(...given) {
    super("story", ...given);
    this.clear();
  }

  get count() {
    return this.find(".count");
  }

  // The prompt and what was written after it.
  get whole() {
    return this.prompt + this.written;
  }

  // Whatever is being written is given up.
  clear() {
    this.control?.abort();
    this.control = null;
    this.mark(-1);
    this.units = [];
    this.prompt = this.written = "";
    this.vocabulary = 0;
    this.find(".given").textContent = this.find(".grown").textContent = this.count.textContent = "";
    this.find(".use").hidden = true;
    this.element.classList.remove("wrong", "writing");
  }

  // Writes until the story has ended or `signal` says stop; whatever goes wrong is told in the column.
  async write(asked, signal) {
    this.clear();
    const control = (this.control = new AbortController());
    const mine = () => this.control === control; // and not another model's, or a later writing
    signal.addEventListener("abort", () => control.abort(), { once: true });
    this.prompt = asked.prompt;
    this.find(".given").textContent = asked.prompt;
    this.element.classList.add("writing");
    this.count.textContent = "…";
    const growing = new Growing();
    let tokens = 0, began = 0, ended = null;
    const take = (found) => {
      if (!mine()) return;
      const made = [];
      for (const line of found) {
        if (line.prompt) this.vocabulary = line.vocabulary;
        else if (line.ended) ended = line;
        else {
          began ||= performance.now();
          tokens += 1;
          this.written += line.text;
          made.push(...growing.take(line));
        }
      }
      if (ended?.ended === "story") made.push(...growing.ended());
      this.units.push(...made);
      this.find(".grown").append(...made.map((unit) => unit.element));
      const seconds = (performance.now() - began) / 1000;
      this.counted = this.tally(tokens, seconds);
      this.count.textContent = this.counted;
    };
    const busy = (line) => mine() && (this.count.textContent = line);
    try {
      await lines("write", { ...this.model, ...asked }, { signal: control.signal, busy, take });
      if (!ended) throw new Error("the server broke off");
      if (ended.error) throw new Error(ended.error);
      this.count.textContent = `${this.counted} · ${WHY[ended.ended]}`;
    } catch (problem) {
      if (!mine()) return;
      if (control.signal.aborted) this.count.textContent = tokens ? `${this.counted} · stopped` : "stopped";
      else this.fail(problem.message);
    } finally {
      if (mine()) {
        this.element.classList.remove("writing");
        this.find(".use").hidden = !this.written;
      }
    }
  }

  tally(tokens, seconds) {
    const parts = [`${whole(tokens)} token${tokens === 1 ? "" : "s"}`, `${whole([...this.written].length)} characters`];
    if (tokens > 1 && seconds > 0) parts.push(`${whole(Math.round((tokens - 1) / seconds))} tokens per second`);
    return parts.join(" · ");
  }

  fail(line) {
    this.element.classList.add("wrong");
    this.count.textContent = line;
  }
}
