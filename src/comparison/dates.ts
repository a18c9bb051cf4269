/** A date that was read from a text. */
interface ReadDate {
  /** Milliseconds since the epoch. If the text names no zone, the zone of the server is still missing. */
  readonly at: number;
  readonly hasZone: boolean;
  /** What the clock shows in the zone of the text, in milliseconds since the epoch of that clock. */
  readonly wall: number;
  /** The smallest unit that the text states, in milliseconds. */
  readonly unit: number;
  /** False if the text states only a day, which is less than clients can show. */
  readonly hasTime: boolean;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY = 86_400_000;
const MINUTE = 60_000;

/** The offsets from UTC, in minutes, of the abbreviations that are used in only one sense. */
const ZONES: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  Z: 0,
  WET: 0,
  WEST: 60,
  CET: 60,
  CEST: 120,
  EET: 120,
  EEST: 180,
  MSK: 180,
  EST: -300,
  EDT: -240,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
};

/** The year, month, day, and as much of the time as the text states. */
type Fields = readonly number[];

/**
 * Reads a date in one of the forms that servers use: ISO 8601 with a space or a `T`, `MM/DD/YYYY hh:mm AM`,
 * `Thu Feb 07 15:05:50 UTC 2019`, and the form of HTTP. Returns undefined for any other text.
 */
export function readDate(text: string): ReadDate | undefined {
  if (text.length > 40) return undefined;
  const iso =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?(Z|[A-Z]{3,4}|[+-]\d\d:?\d\d)?)?$/.exec(
      text,
    );
  if (iso !== null) {
    const [, year, month, day, hour, minute, second, fraction, zone] = iso;
    const unit = hour === undefined ? DAY : second === undefined ? MINUTE : fraction === undefined ? 1000 : 1;
    const fields = [year, month, day, hour, minute, second].map((field) => Number(field ?? 0));
    return dated(fields, unit, zone, Math.trunc(Number(`0.${fraction ?? '0'}`) * 1000));
  }
  const us = /^(\d\d)\/(\d\d)\/(\d{4})(?: (\d\d):(\d\d)(?: (AM|PM))?)?$/.exec(text);
  if (us !== null) {
    const [, month, day, year, hour = '0', minute = '0', half] = us;
    const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'PM' ? 12 : 0);
    const unit = us[4] === undefined ? DAY : MINUTE;
    return dated([Number(year), Number(month), Number(day), hours, Number(minute)], unit, undefined);
  }
  const unix = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d) ([^ ]{1,16}) (\d{4})$/.exec(text);
  if (unix !== null) {
    const [, month = '', day, hour, minute, second, zone, year] = unix;
    const time = [hour, minute, second].map(Number);
    return dated([Number(year), MONTHS.indexOf(month) + 1, Number(day), ...time], 1000, zone);
  }
  const http = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) (GMT|[+-]\d{4})$/.exec(text);
  if (http === null) return undefined;
  const [, day, month = '', year, hour, minute, second, zone] = http;
  const time = [hour, minute, second].map(Number);
  return dated([Number(year), MONTHS.indexOf(month) + 1, Number(day), ...time], 1000, zone);
}

/** Returns a date, or undefined if it does not exist in the calendar or if its zone is unknown. */
function dated(fields: Fields, unit: number, zone: string | undefined, ms = 0): ReadDate | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields;
  const at = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  const date = new Date(at);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59) return undefined;
  const hasTime = unit < DAY;
  if (zone === undefined) return { at, hasZone: false, wall: at, unit, hasTime };
  const offset = offsetOf(zone);
  return offset === undefined ? undefined : { at: at - offset * MINUTE, hasZone: true, wall: at, unit, hasTime };
}

function offsetOf(zone: string): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  if (sign === undefined) return Object.hasOwn(ZONES, zone) ? ZONES[zone] : undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** Converts the time on a clock in a time zone to an instant. */
export type ToInstant = (wallClock: number) => number;

/** Returns the clock of a time zone, such as `UTC`, `Europe/Berlin` or `+01:00`. Throws a RangeError if it is unknown. */
export function zoneClock(zone: string): ToInstant {
  const fixed = offsetOf(zone);
  if (fixed !== undefined) return (wall) => wall - fixed * MINUTE;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const offsetAt = (instant: number): number => {
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    return (offsetOf(name.slice('GMT'.length)) ?? 0) * MINUTE;
  };
  // The first guess may lie on the other side of a change to or from daylight saving time.
  return (wall) => wall - offsetAt(wall - offsetAt(wall));
}

/** How two dates compare: the same instant in another form, in another zone, or not the same. */
export type DateMatch = 'form' | 'zone' | 'different';

/**
 * Compares two dates. If one of them states less, such as no seconds, only what both state is compared.
 */
export function matchDates(
  [a, aText, aClock]: readonly [ReadDate, string, ToInstant],
  [b, bText, bClock]: readonly [ReadDate, string, ToInstant],
): DateMatch | 'same' {
  const unit = Math.max(a.unit, b.unit);
  const at = a.hasZone ? a.at : aClock(a.at);
  const bt = b.hasZone ? b.at : bClock(b.at);
  if (Math.floor(at / unit) !== Math.floor(bt / unit)) return 'different';
  if (aText === bText) return 'same';
  const isSameWall = Math.floor(a.wall / unit) === Math.floor(b.wall / unit) && a.hasZone === b.hasZone;
  return isSameWall ? 'form' : 'zone';
}
