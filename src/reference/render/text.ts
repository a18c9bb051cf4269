import { trimEndOf } from '../../lib/trim-end.ts';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

/** Formats epoch milliseconds as `MM/DD/YYYY hh:mm AM|PM` in UTC, as in `creationDateFormatted`. */
export function toFormattedDate(at: number): string {
  const date = new Date(at);
  const hour = date.getUTCHours();
  const day = `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${date.getUTCFullYear()}`;
  return `${day} ${two(hour % 12 === 0 ? 12 : hour % 12)}:${two(date.getUTCMinutes())} ${hour < 12 ? 'AM' : 'PM'}`;
}

/**
 * Formats epoch milliseconds as `YYYY-MM-DD HH:mm:ss.S`, without trailing zeros in the fraction. The legacy server uses
 * this format for a date that it has read from its database.
 */
export function toStoredDate(at: number): string {
  const iso = new Date(at).toISOString();
  const fraction = trimEndOf(iso.slice(20, 23), '0');
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}.${fraction === '' ? '0' : fraction}`;
}

/**
 * Formats epoch milliseconds as `Thu Feb 07 15:05:50 UTC 2019`, as in `canceledDate`. The legacy server also uses this
 * format for a date that it has not stored yet.
 */
export function toWeekdayDate(at: number): string {
  const date = new Date(at);
  const day = `${WEEKDAYS[date.getUTCDay()] ?? ''} ${MONTHS[date.getUTCMonth()] ?? ''} ${two(date.getUTCDate())}`;
  return `${day} ${date.toISOString().slice(11, 19)} UTC ${date.getUTCFullYear()}`;
}

/** Formats epoch milliseconds as `MM/DD/YYYY HH:mm` in UTC, as in a GDPR job's `scheduleTime`. */
export function toScheduleTime(at: number): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(0, 4)} ${iso.slice(11, 16)}`;
}

/**
 * Parses `MM/DD/YYYY HH:mm` in UTC to epoch milliseconds. Returns undefined if the text has a different format or the
 * date does not exist.
 */
export function parseScheduleTime(text: string): number | undefined {
  const match = /^(\d{2})\/(\d{2})\/(\d{4}) (\d{2}):(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = match.slice(1).map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute);
  return toScheduleTime(at) === text ? at : undefined;
}
