import type { ServerResponse } from 'node:http';
import { writeAnswer, writeHead, type WrittenAnswer } from '../answers/write-answer.ts';
import type { Fault } from './fault.ts';

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
