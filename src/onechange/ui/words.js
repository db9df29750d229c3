// How times and counts are written.

export const count = (number) => Math.round(number).toLocaleString("en");

/** Seconds as a person says them. */
export function duration(seconds) {
  if (seconds < 100) return `${Math.round(seconds)}\u00a0s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)}\u00a0min`;
  return `${(seconds / 3600).toFixed(1)}\u00a0h`;
}

/** The time of day, with the day where it is another than today's. */
export function clock(date) {
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}

/** How long ago something was; beyond a day it is the day that says it. */
export function ago(date) {
  const seconds = Math.max(0, (Date.now() - date.getTime()) / 1000);
  return seconds < 86400 ? `${duration(seconds)} ago` : clock(date);
}
