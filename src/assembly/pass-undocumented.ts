import type { PassedRequest } from '../http/public-handler.ts';
import type { Clock } from '../lib/clock.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { judgeCredentialByAnswer } from '../pipeline/dispatch.ts';
import { passthroughPurges } from '../pipeline/passthrough-purges.ts';
import { endedEarly, tellFailure, tellServerError } from '../pipeline/upstream-violation.ts';
import { streamOwner } from '../upstream/client-streams.ts';
import type { Passthrough } from '../upstream/create-passthrough.ts';
import { publicAddressOf } from './public-address.ts';

/** What a request past the contract is passed with. */
export interface PassServices {
  readonly passthrough: Passthrough;
  readonly transparent: boolean;
  readonly publicBasePath: string;
  /** Drops what is kept under these tags; everything when undefined. */
  readonly purge: (tags: readonly string[] | undefined) => void;
  readonly clock: Clock;
  /** Counts an address outside the contract; its body is streamed unread. Undefined where nothing is learned. */
  readonly observe?: ((method: string, path: string, status: number) => void) | undefined;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Streams a request past the contract and writes its trace; a write purges what it may have changed (rules, 6 and 11). */
export function createPass(services: PassServices): (passed: PassedRequest) => Promise<void> {
  return async ({ req, res, arrival, principal, trace, extra }) => {
    const startedAt = services.clock();
    const seconds = () => Math.max(0, services.clock() - startedAt) / 1000;
    const purge = () => {
      if (!SAFE.has(arrival.method)) services.purge(passthroughPurges(arrival.path));
    };
    try {
      const result = await services.passthrough.pass(req, res, {
        arrival,
        transparent: services.transparent,
        authorization: principal.authorization,
        owner: streamOwner(principal, arrival.clientAddress),
        publicAddress: publicAddressOf(arrival, services.publicBasePath),
        onAnswer: (status, headers) => {
          trace.upstream = { status, shape: 'passed', seconds: seconds(), attempts: 1 };
          services.observe?.(arrival.method, arrival.path, status);
          if (status >= 500) tellServerError(trace);
          // Before the client hears of the success, so that what it reads next is not older than what it wrote.
          if (status < 400 || status >= 500) purge();
          if (services.transparent) judgeCredentialByAnswer(trace);
          return extra(headers);
        },
        onLegacyAddress: () => {
          trace.legacyAddress = true;
        },
      });
      trace.bytes = result.bytes;
      if (result.failure !== undefined) endedEarly(trace, result.failure);
    } catch (error) {
      if (error instanceof UpstreamFailure) {
        trace.upstream = { status: undefined, shape: error.kind, seconds: seconds(), attempts: 1 };
        tellFailure(trace, error);
        if (services.transparent) judgeCredentialByAnswer(trace);
        purge();
      }
      throw error;
    }
  };
}
