import type { LegacyAnswer } from '../http/legacy-response.ts';
import type { FaultName } from './fault-names.ts';
import type { Fault } from './fault-plan.ts';

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Applies a change to the object that a reader looks at first: the first item of a list, or the object itself; an empty list has none. */
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

function fieldOf(item: Json, asked: string | undefined): string {
  return asked ?? ('id' in item ? 'id' : (Object.keys(item)[0] ?? 'id'));
}

function otherType(value: unknown): unknown {
  if (typeof value === 'string') return value.length;
  return isObject(value) || Array.isArray(value)
    ? 'an object or a list is expected here'
    : { unexpected: String(value) };
}

type Drift = (value: unknown, parameter: string | undefined) => unknown;

const DRIFTS: Partial<Readonly<Record<FaultName, Drift>>> = {
  'missing-field': (value, asked) =>
    changeFirst(value, (item) => {
      const field = fieldOf(item, asked);
      return Object.fromEntries(Object.entries(item).filter(([key]) => key !== field));
    }),
  'wrong-type': (value, asked) =>
    changeFirst(value, (item) => {
      const field = fieldOf(item, asked);
      // A projection may have left it out: what was not asked for has no type.
      return field in item ? { ...item, [field]: otherType(item[field]) } : item;
    }),
  'extra-field': (value, asked) =>
    changeFirst(value, (item) => ({ ...item, [asked ?? 'unexpectedField']: 'unexpected' })),
  'wrong-envelope': (value) => {
    if (Array.isArray(value)) return { list: value };
    return isObject(value) && Array.isArray(value['list']) ? value['list'] : { data: value };
  },
};

/** The answer with the drift that the faults ask for; only a successful JSON answer drifts. */
export function bendAnswer(answer: LegacyAnswer, faults: readonly Fault[]): LegacyAnswer {
  if (answer.payload.kind !== 'json' || answer.status >= 300) return answer;
  let bent = answer.payload.value;
  for (const { name, parameter } of faults) bent = DRIFTS[name]?.(bent, parameter) ?? bent;
  return { ...answer, payload: { kind: 'json', value: bent } };
}
