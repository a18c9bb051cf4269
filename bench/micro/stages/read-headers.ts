import type { IncomingMessage } from 'node:http';
import { createArrivalReader } from '../../../src/engine/http/arrival.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { operation, type Stage } from '../stage.ts';

/** The stage that reads a request's headers, id and trace context. */
export const readHeaders: Stage = {
  name: 'read headers',
  what: 'createArrivalReader: the headers that the gateway reads, the request id and the trace context',
  paidBy: 'hit',
  prepare: ({ request }) => {
    const read = createArrivalReader({
      maxTargetBytes: 8192,
      publicBasePath: '',
      publicOrigin: undefined,
      trustedProxies: [],
      clock: systemClock,
    });
    const socket = { remoteAddress: '127.0.0.1' };
    if (read({ ...request(), socket } as IncomingMessage).authorization === undefined)
      throw new Error('the request has no credential');
    return operation(() => ({ ...request(), socket }) as IncomingMessage, read);
  },
};
