import { endOfDay, isDay } from '../lib/clock.ts';
import { closestName } from '../lib/closest-name.ts';
import { isPlainObject } from '../lib/plain-object.ts';
import { readYaml } from '../lib/read-yaml.ts';
import { type Fault, syntaxFaults } from '../engine/model/fault.ts';

/** States that the values at one place differ for a reason other than a fault. It never hides anything but values. */
export interface NoiseRule {
  readonly operation: string;
  /** The JSON pointer of the place, with `*` for every index. There are no other wildcards. */
  readonly at: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which the rule applies, as `YYYY-MM-DD`. */
  readonly until: string;
}

/** The rules in use. */
export interface Noise {
  /** Returns the rule for a place, and counts that it has matched. */
  ruleFor(operation: string | undefined, at: string): NoiseRule | undefined;
  /** Returns the rules that have matched nothing. They are unnecessary, or their place is misspelled. */
  unused(): readonly NoiseRule[];
  /** The rules whose last day has passed. They do not apply. */
  readonly expired: readonly NoiseRule[];
}

/** Creates the rules in use at an instant. */
export function createNoise(rules: readonly NoiseRule[], now: number): Noise {
  const expired = rules.filter(({ until }) => now >= endOfDay(until));
  const inUse = new Map(rules.filter((rule) => !expired.includes(rule)).map((rule) => [keyOf(rule), rule]));
  const matched = new Set<NoiseRule>();
  return {
    ruleFor(operation, at) {
      const rule = operation === undefined ? undefined : inUse.get(keyOf({ operation, at }));
      if (rule !== undefined) matched.add(rule);
      return rule;
    },
    unused: () => [...inUse.values()].filter((rule) => !matched.has(rule)),
    expired,
  };
}

const keyOf = ({ operation, at }: Pick<NoiseRule, 'operation' | 'at'>) => `${operation} ${at}`;

const KEYS = ['operation', 'at', 'reason', 'owner', 'until'] as const;
const MAX_RULES = 1_000;

/** Parses a file of rules. Returns all of its errors. Names of operations are checked if `operations` are given. */
export function parseNoise(
  text: string,
  source: string,
  operations: readonly string[] | undefined,
): { readonly rules: readonly NoiseRule[]; readonly faults: readonly Fault[] } {
  const reading = readYaml(text);
  if (reading.errors !== undefined)
    return { rules: [], faults: syntaxFaults(source, reading.errors, 'see docs/moving.md') };
  const faults: Fault[] = [];
  const fault = (pointer: string, message: string, suggestion?: string) =>
    faults.push({ source, pointer, message, ...(suggestion !== undefined && { suggestion }) });
  const { value } = reading;
  const list: unknown = isPlainObject(value) ? value['noise'] : value;
  if (value === null || value === undefined) return { rules: [], faults };
  if (!isPlainObject(value) || !Array.isArray(list)) {
    fault('', 'must be a mapping with the key noise, which is a list of rules');
    return { rules: [], faults };
  }
  if (list.length > MAX_RULES) fault('/noise', `must have at most ${MAX_RULES} rules`);
  const rules = (list as unknown[]).slice(0, MAX_RULES).flatMap((item, index): NoiseRule[] => {
    const pointer = `/noise/${index}`;
    if (!isPlainObject(item)) {
      fault(pointer, `must be a mapping with ${KEYS.join(', ')}`);
      return [];
    }
    const before = faults.length;
    for (const key of Object.keys(item))
      if (!KEYS.some((known) => known === key)) fault(`${pointer}/${key}`, 'unknown key', closestName(key, KEYS));
    const [operation, at, reason, owner, until] = KEYS.map((key) => {
      const text_ = item[key];
      if (typeof text_ === 'string' && text_.trim() !== '') return text_;
      if (text_ === undefined || text_ === null || text_ === '') fault(`${pointer}/${key}`, 'is required');
      else fault(`${pointer}/${key}`, 'must be text', 'put it in quotes');
      return '';
    }) as [string, string, string, string, string];
    if (operation !== '' && operations?.includes(operation) === false)
      fault(`${pointer}/operation`, 'is not an operation of the contract', closestName(operation, operations));
    if (at !== '' && !/^\/[^\s]{1,300}$/.test(at))
      fault(`${pointer}/at`, 'must be a JSON pointer with * for every index', '/list/*/viewCount');
    if (until !== '' && !isDay(until)) fault(`${pointer}/until`, 'must be a date in the format YYYY-MM-DD');
    return faults.length > before ? [] : [{ operation, at, reason, owner, until }];
  });
  return { rules, faults };
}

/** Formats rules as a file. JSON strings are valid YAML, so no value needs other quotes. */
export function formatNoise(rules: readonly NoiseRule[]): string {
  const head =
    '# Values that differ between two calls of the same server. Rules hide nothing but values (docs/moving.md).\n';
  if (rules.length === 0) return `${head}noise: []\n`;
  const lines = rules.map((rule) =>
    KEYS.map((key, at) => `${at === 0 ? '  - ' : '    '}${key}: ${JSON.stringify(rule[key])}`).join('\n'),
  );
  return `${head}noise:\n${lines.join('\n')}\n`;
}
