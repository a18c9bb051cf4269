import type { LegacyResponse } from '../http/legacy-response.ts';
import type { ChaosName } from './chaos-names.ts';
import type { ChaosRule } from './chaos-plan.ts';

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Changes the first item of a list, or the object itself if the body is not a list. An empty list remains unchanged.
 */
function changeFirst(value: unknown, change: (item: Json) => Json): unknown {
  if (Array.isArray(value)) {
    const [first, ...rest] = value as unknown[];
    return first === undefined ? value : [changeFirst(first, change), ...rest];
  }
  if (!isObject(value)) return value;
  for (const key of ['list', 'actions']) {
    const items = value[key];
    if (Array.isArray(items)) return { ...value, [key]: changeFirst(items, change) };
  }
  return change(value);
}

function fieldToChange(item: Json, parameter: string | undefined): string {
  return parameter ?? ('id' in item ? 'id' : (Object.keys(item)[0] ?? 'id'));
}

function withOtherType(value: unknown): unknown {
  if (typeof value === 'string') return value.length;
  return isObject(value) || Array.isArray(value)
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
      // A projection may have removed the field, and adding it back would be a different kind of drift.
      return field in item ? { ...item, [field]: withOtherType(item[field]) } : item;
    }),
  'extra-field': (value, parameter) =>
    changeFirst(value, (item) => ({ ...item, [parameter ?? 'unexpectedField']: 'unexpected' })),
  'wrong-envelope': (value) => {
    if (Array.isArray(value)) return { list: value };
    return isObject(value) && Array.isArray(value['list']) ? value['list'] : { data: value };
  },
};

/** Applies the drift rules to a successful JSON response. Returns any other response unchanged. */
export function applyDrift(response: LegacyResponse, rules: readonly ChaosRule[]): LegacyResponse {
  if (response.payload.kind !== 'json' || response.status >= 300) return response;
  let { value } = response.payload;
  for (const { name, parameter } of rules) value = DRIFTS[name]?.(value, parameter) ?? value;
  return { ...response, payload: { kind: 'json', value } };
}
