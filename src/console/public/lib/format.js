const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
});

/** What stands for a value that there is not. */
export const NONE = '–';

/** A count: 12,345. */
export const count = (value) => whole.format(value);

/** A number with three digits that matter. */
export const short = (value) => fine.format(value);

/** A share of 0 to 1 as a percentage. */
export function percent(share) {
  if (share === undefined) return NONE;
  if (share > 0 && share < 0.001) return '<0.1 %';
  if (share < 1 && share > 0.999) return '>99.9 %';
  return `${fine.format(share * 100)} %`;
}

/**
 * Seconds as a latency: 840 µs, 12 ms, 1.2 s; at the ends of what can be told apart (`bounds`), as at most or more than
 * that.
 */
export function latency(seconds, bounds = []) {
  if (seconds === undefined) return NONE;
  if (seconds === bounds[0]) return `≤ ${latency(seconds)}`;
  if (seconds === bounds.at(-1)) return `> ${latency(seconds)}`;
  // What is rounded up to the next unit is told in it.
  if (seconds < 0.0009995) return `${fine.format(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${fine.format(seconds * 1000)} ms`;
  return `${fine.format(seconds)} s`;
}

/** What percentiles are made from, as a sentence. */
export const estimated = (bounds) =>
  `p50 and p99 are estimates: latencies are counted in steps up to ${bounds.map((bound) => latency(bound)).join(', ')}.`;

/** Seconds as an age: 12 s, 4 min, 3 h, 2 d. */
export function age(seconds) {
  if (seconds < 100) return `${whole.format(seconds)} s`;
  if (seconds < 5400) return `${whole.format(seconds / 60)} min`;
  if (seconds < 129_600) return `${whole.format(seconds / 3600)} h`;
  return `${whole.format(seconds / 86_400)} d`;
}

/** Bytes: 512 B, 12.3 KiB, 4.5 MiB. */
export function bytes(value) {
  if (value < 1024) return `${whole.format(value)} B`;
  if (value < 1024 ** 2) return `${fine.format(value / 1024)} KiB`;
  return `${fine.format(value / 1024 ** 2)} MiB`;
}

/** An instant of today. */
export const time = (at) => clock.format(at);

/** An instant of any day. */
export const dateTime = (at) => day.format(at);

/** A word for one or several. */
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
