// The index: its server says when it says something else, and only then it is fetched again.
import { exchange, follow, versionOf } from "./exchange.js";
import { ago, duration } from "./words.js";

function tellTimes() {
  for (const time of document.querySelectorAll("time")) {
    const date = new Date(time.dateTime);
    time.textContent = ago(date);
    time.title = date.toLocaleString();
  }
  for (const part of document.querySelectorAll("[data-seconds]")) part.textContent = `, ${duration(Number(part.dataset.seconds))} left`;
}

const counted = () => document.querySelector(".count, .empty")?.textContent ?? "";

follow("/events", {
  page: async ({ version }) => {
    if (version === versionOf(document)) return;
    const before = counted();
    if (!(await exchange())) return;
    tellTimes();
    if (counted() !== before) document.querySelector("[role=status]").textContent = counted();
  },
});
tellTimes();
setInterval(tellTimes, 5000);
