const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';

/** The three forms of an HTTP date (RFC 9110 §5.6.7). */
const FORMS = [
  String.raw`${DAY}, (?<day>\d{2}) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  String.raw`(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday), (?<day>\d{2})-${MONTH}-(?<year>\d{2}) ${TIME} GMT`,
  String.raw`${DAY} ${MONTH} (?<day>\d{2}| \d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/**
 * Parses an HTTP date in any of its three forms (RFC 9110 §5.6.7). Returns epoch milliseconds, or undefined for any other
 * text and for dates that do not exist. `now`, in epoch milliseconds, determines the century of a year with two digits.
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const trimmed = text.trim();
  for (const form of FORMS) {
    const parts = form.exec(trimmed)?.groups;
    if (parts === undefined) continue;
    const [day, hour, minute, second] = ['day', 'hour', 'minute', 'second'].map((name) => Number(parts[name]));
    const year = fullYear(parts['year'] ?? '', now);
    const month = MONTHS.indexOf(parts['month'] ?? '');
    if (day === undefined || hour === undefined || minute === undefined || second === undefined) return undefined;
    // A leap second is valid and counts as the beginning of the next minute.
    if (hour > 23 || minute > 59 || second > 60) return undefined;
    const at = Date.UTC(year, month, day, hour, minute, second);
    const isReal = new Date(Date.UTC(year, month, day)).getUTCDate() === day;
    return isReal ? at : undefined;
  }
  return undefined;
}

/** A year with two digits that would be more than 50 years in the future is in the past century. */
function fullYear(text: string, now: number): number {
  if (text.length === 4) return Number(text);
  const current = new Date(now).getUTCFullYear();
  const year = current - (current % 100) + Number(text);
  return year > current + 50 ? year - 100 : year;
}
