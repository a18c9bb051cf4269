import type { ServerResponse } from 'node:http';
import {
  type LegacyResponse,
  missingPermission,
  plainError,
  htmlErrorPage,
  type SerializedResponse,
  writeHead,
  writeResponse,
} from '../http/legacy-response.ts';
import type { ChaosName } from './chaos-kinds.ts';
import type { ChaosRule } from './chaos-plan.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';

type Replacement = (parameter: string | undefined) => LegacyResponse;

const REPLACEMENTS: Partial<Readonly<Record<ChaosName, Replacement>>> = {
  '500': (message) => plainError(500, message ?? 'An internal error occurred.'),
  html: (status) => htmlErrorPage(Number(status ?? 401), 'The request could not be completed'),
  'error-in-200': (kind) =>
    kind === 'permission' ? { ...missingPermission(), status: 200 } : plainError(200, 'An internal error occurred.'),
};

/** Returns a response that replaces the operation's own, or undefined if no rule provides one. */
export function replacementResponse(rules: readonly ChaosRule[]): LegacyResponse | undefined {
  return rules.map(({ name, parameter }) => REPLACEMENTS[name]?.(parameter)).find((one) => one !== undefined);
}

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
      // A projection may have removed the field. Adding the field back would be a different kind of drift.
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

function bytesToSend(body: Buffer, parameter: string | undefined): number {
  const requested = parameter === undefined ? Math.floor(body.byteLength / 2) : Number(parameter);
  return Math.min(requested, body.byteLength - 1);
}

function malformed(response: SerializedResponse): SerializedResponse {
  if (response.contentType?.startsWith('application/json') !== true) return response;
  return { ...response, body: Buffer.concat([response.body.subarray(0, -1), Buffer.from(',')]) };
}

function damaged(response: SerializedResponse, rule: ChaosRule): SerializedResponse {
  if (rule.name === 'malformed') return malformed(response);
  return rule.name === 'content-type'
    ? { ...response, contentType: rule.parameter ?? 'text/plain;charset=UTF-8' }
    : response;
}

/** Writes a response. If the rules require it, damages the response or truncates its body. */
export function writeWithChaos(
  response: ServerResponse,
  intact: SerializedResponse,
  rules: readonly ChaosRule[],
): void {
  const written = rules.reduce(damaged, intact);
  const truncation = rules.find(({ name }) => name === 'truncated');
  if (truncation === undefined || written.body.byteLength === 0 || response.req.method === 'HEAD') {
    writeResponse(response, written);
    return;
  }
  writeHead(response, written);
  // Waits until the bytes are flushed, so that the client receives part of the body.
  const sent = written.body.subarray(0, bytesToSend(written.body, truncation.parameter));
  response.write(sent, () => response.socket?.destroy());
}

/** Resets the connection without a response. */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
