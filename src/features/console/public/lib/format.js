const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
/** @type {Intl.DateTimeFormatOptions} */
const DAY = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false };
const day = new Intl.DateTimeFormat('en', DAY);
const dayAndYear = new Intl.DateTimeFormat('en', { ...DAY, year: 'numeric' });

/** The text shown for a missing value. */
export const NONE = '–';

/** Formats a count, for example as 12,345. */
export const count = (value) => whole.format(value);

/** Formats a number with three significant digits. */
export const short = (value) => fine.format(value);

/** Formats a share (from 0 to 1) as a percentage. */
export function percent(share) {
  if (share === undefined) return NONE;
  if (share > 0 && share < 0.001) return '<0.1%';
  if (share < 1 && share > 0.999) return '>99.9%';
  return `${fine.format(share * 100)}%`;
}

/**
 * Formats a latency in seconds, for example as 840 µs, 12 ms or 1.2 s. The first of `bounds` is shown with ≤ and the
 * last with >.
 */
export function latency(seconds, bounds = []) {
  if (seconds === undefined) return NONE;
  if (seconds === bounds[0]) return `≤ ${latency(seconds)}`;
  if (seconds === bounds.at(-1)) return `> ${latency(seconds)}`;
  // A value that rounds up to the next unit is shown in that unit.
  if (seconds < 0.0009995) return `${fine.format(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${fine.format(seconds * 1000)} ms`;
  return `${fine.format(seconds)} s`;
}

/** Returns a sentence about the precision of the percentiles. */
export const estimated = (bounds) =>
  `p50 and p99 are estimates: latencies are counted in buckets with upper bounds ${bounds.map((bound) => latency(bound)).join(', ')}.`;

/** Formats an age in seconds, for example as 12 s, 4 min, 3 h or 2 d. */
export function age(seconds) {
  if (seconds < 100) return `${whole.format(seconds)} s`;
  if (seconds < 5400) return `${whole.format(seconds / 60)} min`;
  if (seconds < 129_600) return `${whole.format(seconds / 3600)} h`;
  return `${whole.format(seconds / 86_400)} d`;
}

/** Formats a number of bytes, for example as 512 B, 12.3 KiB or 4.5 MiB. */
export function bytes(value) {
  if (value < 1024) return `${whole.format(value)} B`;
  if (value < 1024 ** 2) return `${fine.format(value / 1024)} KiB`;
  return `${fine.format(value / 1024 ** 2)} MiB`;
}

/** Formats the time of day. */
export const time = (at) => clock.format(at);

/** Formats the date and the time, with the year if it is not the current one. */
export const dateTime = (at) => (new Date(at).getFullYear() === new Date().getFullYear() ? day : dayAndYear).format(at);

/** Formats a count with a noun in the singular or plural. */
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
