const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

/** `MM/DD/YYYY hh:mm AM|PM` in UTC: the form of `creationDateFormatted`. */
export function toFormattedDate(at: number): string {
  const date = new Date(at);
  const hour = date.getUTCHours();
  const day = `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${date.getUTCFullYear()}`;
  return `${day} ${two(hour % 12 === 0 ? 12 : hour % 12)}:${two(date.getUTCMinutes())} ${hour < 12 ? 'AM' : 'PM'}`;
}

/** `YYYY-MM-DD HH:mm:ss.S`: how an instant read back from storage prints (trailing zeros of the fraction are dropped). */
export function toStoredDate(at: number): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(20, 23).replace(/0+$/, '');
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}.${fraction === '' ? '0' : fraction}`;
}

/** `Thu Feb 07 15:05:50 UTC 2019`: how an instant that was never stored prints, and the form of `canceledDate`. */
export function toWeekdayDate(at: number): string {
  const date = new Date(at);
  const day = `${WEEKDAYS[date.getUTCDay()] ?? ''} ${MONTHS[date.getUTCMonth()] ?? ''} ${two(date.getUTCDate())}`;
  return `${day} ${date.toISOString().slice(11, 19)} UTC ${date.getUTCFullYear()}`;
}

/** `MM/DD/YYYY HH:mm` in UTC: the form of a GDPR job's `scheduleTime`. */
export function toScheduleTime(at: number): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(0, 4)} ${iso.slice(11, 16)}`;
}

/** Reads `MM/DD/YYYY HH:mm` as UTC; undefined when the text has another form or names no such minute. */
export function parseScheduleTime(text: string): number | undefined {
  const match = /^(\d{2})\/(\d{2})\/(\d{4}) (\d{2}):(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = match.slice(1).map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute);
  return toScheduleTime(at) === text ? at : undefined;
}

/** The part of an address that a title gives: lower case, words joined by hyphens. */
export function toSlug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
