/** A JSON object whose members are not known yet. */
export type Members = Readonly<Record<string, unknown>>;

/** A report that cannot be read: which field is wrong, and how. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';

  constructor(pointer: string, message: string) {
    super(pointer === '' ? message : `${pointer} ${message}`);
  }
}

/** A value that must be an object. */
export function membersAt(value: unknown, at: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new ReportFault(at, 'must be an object');
}

/** A member that must be an array. */
export function valuesAt(members: Members, name: string, at: string): readonly unknown[] {
  const value = members[name];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new ReportFault(`${at}/${name}`, 'must be an array');
}

/** A member that must be text. */
export function textAt(members: Members, name: string, at: string): string {
  const value = members[name];
  if (typeof value === 'string') return value;
  throw new ReportFault(`${at}/${name}`, 'must be text');
}

/** A member that must be a number of 0 or more. */
export function numberAt(members: Members, name: string, at: string): number {
  const value = members[name];
  if (typeof value === 'number' && value >= 0) return value;
  throw new ReportFault(`${at}/${name}`, 'must be a number of 0 or more');
}

/** A member that must be an instant in ISO 8601, as epoch milliseconds. */
export function timeAt(members: Members, name: string, at: string): number {
  const value = Date.parse(textAt(members, name, at));
  if (!Number.isNaN(value)) return value;
  throw new ReportFault(`${at}/${name}`, 'must be an instant in ISO 8601');
}

/** A member that must be one of a few words. */
export function oneOfAt<Word extends string>(members: Members, name: string, words: readonly Word[], at: string): Word {
  const value = members[name];
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new ReportFault(`${at}/${name}`, `must be one of ${words.join(', ')}`);
}
