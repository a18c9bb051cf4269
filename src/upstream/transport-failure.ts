import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';

/** How far an exchange had come when it failed. */
export type ExchangePhase = 'connecting' | 'waiting' | 'body';

const DEADLINE_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const GIVEN_UP_CODES = new Set([
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  // Whoever read the body stopped doing so.
  'ERR_STREAM_PREMATURE_CLOSE',
]);

const BY_PHASE: Readonly<Record<ExchangePhase, UpstreamFailureKind>> = {
  connecting: 'refused',
  waiting: 'reset',
  body: 'truncated',
};

/** Names what a socket, undici or `node:http` reported; a failure that was named already stays as it is. */
export function toTransportFailure(error: unknown, phase: ExchangePhase): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  return new UpstreamFailure(kindOf(errorCode(error), phase), { cause: error });
}

function kindOf(code: string, phase: ExchangePhase): UpstreamFailureKind {
  if (DEADLINE_CODES.has(code)) return 'deadline';
  if (GIVEN_UP_CODES.has(code)) return 'aborted';
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return 'too_large';
  return BY_PHASE[phase];
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
