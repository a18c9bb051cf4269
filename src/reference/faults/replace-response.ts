import type { ServerResponse } from 'node:http';
import { missingPermission, plainError } from '../http/errors.ts';
import { htmlErrorPage, type LegacyAnswer } from '../http/legacy-response.ts';
import { writeAnswer, writeHead, type WrittenAnswer } from '../http/write-response.ts';
import type { FaultName } from './fault-names.ts';
import type { Fault } from './fault-plan.ts';

type Replacement = (parameter: string | undefined) => LegacyAnswer;

const REPLACEMENTS: Partial<Readonly<Record<FaultName, Replacement>>> = {
  '500': (message) => plainError(500, message ?? 'An internal error occurred.'),
  html: (status) => htmlErrorPage(Number(status ?? 401), 'The request could not be completed'),
  'error-in-200': (kind) =>
    kind === 'permission' ? { ...missingPermission(), status: 200 } : plainError(200, 'An internal error occurred.'),
};

/** The answer that the first replacing fault gives instead of running the operation; undefined when there is none. */
export function replaceAnswer(faults: readonly Fault[]): LegacyAnswer | undefined {
  for (const { name, parameter } of faults) {
    const answer = REPLACEMENTS[name]?.(parameter);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function bytesSent(body: Buffer, parameter: string | undefined): number {
  const asked = parameter === undefined ? Math.floor(body.byteLength / 2) : Number(parameter);
  return Math.min(asked, body.byteLength - 1);
}

function malformed(answer: WrittenAnswer): WrittenAnswer {
  if (answer.contentType?.startsWith('application/json') !== true) return answer;
  return { ...answer, body: Buffer.concat([answer.body.subarray(0, -1), Buffer.from(',')]) };
}

function damaged(answer: WrittenAnswer, fault: Fault): WrittenAnswer {
  if (fault.name === 'malformed') return malformed(answer);
  return fault.name === 'content-type'
    ? { ...answer, contentType: fault.parameter ?? 'text/plain;charset=UTF-8' }
    : answer;
}

/** Writes an answer the way the faults want it: damaged, or cut off in mid-body. */
export function writeWithFaults(response: ServerResponse, answer: WrittenAnswer, faults: readonly Fault[]): void {
  const written = faults.reduce(damaged, answer);
  const cut = faults.find(({ name }) => name === 'truncated');
  if (cut === undefined || written.body.byteLength === 0 || response.req.method === 'HEAD') {
    writeAnswer(response, written);
    return;
  }
  writeHead(response, written);
  // What was written must have left before the connection ends, or the client would see no body at all.
  response.write(written.body.subarray(0, bytesSent(written.body, cut.parameter)), () => response.socket?.destroy());
}

/** Ends the connection without an answer. */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
