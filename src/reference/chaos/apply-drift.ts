import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import type { LegacyResponse } from '../http/legacy-response.ts';
import type { ChaosName } from './chaos-kinds.ts';
import type { ChaosRule } from './chaos-plan.ts';

/** Changes the first item in a list, or the body itself if it is not a list. Empty lists are not changed. */
function changeFirst(value: unknown, change: (item: PlainObject) => PlainObject): unknown {
  if (Array.isArray(value)) {
    const [first, ...rest] = value as unknown[];
    return first === undefined ? value : [changeFirst(first, change), ...rest];
  }
  if (!isPlainObject(value)) return value;
  for (const key of ['list', 'actions']) {
    const items = value[key];
    if (Array.isArray(items)) return { ...value, [key]: changeFirst(items, change) };
  }
  return change(value);
}

function fieldToChange(item: PlainObject, parameter: string | undefined): string {
  return parameter ?? ('id' in item ? 'id' : (Object.keys(item)[0] ?? 'id'));
}

function withOtherType(value: unknown): unknown {
  if (typeof value === 'string') return value.length;
  return isPlainObject(value) || Array.isArray(value)
    ? 'an object or a list is expected here'
    : { unexpected: String(value) };
}

type Drift = (value: unknown, parameter: string | undefined) => unknown;

const DRIFTS: Partial<Readonly<Record<ChaosName, Drift>>> = {
  'missing-field': (value, parameter) =>
    changeFirst(value, (item) => {
      const field = fieldToChange(item, parameter);
      return Object.fromEntries(Object.entries(item).filter(([key]) => key !== field));
    }),
  'wrong-type': (value, parameter) =>
    changeFirst(value, (item) => {
      const field = fieldToChange(item, parameter);
      // A projection may have removed the field. Adding it back would be a different kind of drift.
      return field in item ? { ...item, [field]: withOtherType(item[field]) } : item;
    }),
  'extra-field': (value, parameter) =>
    changeFirst(value, (item) => ({ ...item, [parameter ?? 'unexpectedField']: 'unexpected' })),
  'wrong-envelope': (value) => {
    if (Array.isArray(value)) return { list: value };
    return isPlainObject(value) && Array.isArray(value['list']) ? value['list'] : { data: value };
  },
};

/** Applies the drift rules to a successful JSON response. Returns any other response unchanged. */
export function applyDrift(response: LegacyResponse, rules: readonly ChaosRule[]): LegacyResponse {
  if (response.payload.kind !== 'json' || response.status >= 300) return response;
  let { value } = response.payload;
  for (const { name, parameter } of rules) value = DRIFTS[name]?.(value, parameter) ?? value;
  return { ...response, payload: { kind: 'json', value } };
}
