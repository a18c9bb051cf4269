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

type Replacement = (parameter: string | undefined) => LegacyResponse;

const REPLACEMENTS: Partial<Readonly<Record<ChaosName, Replacement>>> = {
  '500': (message) => plainError(500, message ?? 'An internal error occurred.'),
  html: (status) => htmlErrorPage(Number(status ?? 401), 'The request could not be completed'),
  'error-in-200': (kind) =>
    kind === 'permission' ? { ...missingPermission(), status: 200 } : plainError(200, 'An internal error occurred.'),
};

/** Returns the response to send instead of running the operation. Returns undefined if no rule replaces it. */
export function replacementResponse(rules: readonly ChaosRule[]): LegacyResponse | undefined {
  return rules.map(({ name, parameter }) => REPLACEMENTS[name]?.(parameter)).find((one) => one !== undefined);
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

/** Writes a response. If the rules require it, the response is damaged or its body is cut off in the middle. */
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
