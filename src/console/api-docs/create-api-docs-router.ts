import express, { type RequestHandler, type Router } from 'express';
import { createWriteGuard, READ_ONLY_REASON } from '../write-guard.ts';
import { describeContract, type DescribedSources } from './describe-contract.ts';
import { type PublicAddress, sendTry } from './send-try.ts';
import { readTryRequest, SAFE_METHODS } from './try-request.ts';

/** What the reference reads, and where what is tried goes. */
export interface ReferenceSources extends DescribedSources {
  /** True where an admin token is set: only then can requests that change something be tried. */
  readonly writable: boolean;
  /** Undefined while the public side does not listen. */
  readonly publicAddress: () => PublicAddress | undefined;
}

/** A privacy upload of some thousand rows goes through. */
const MAX_FORM_BYTES = 262_144;
const MAX_TRIES_AT_ONCE = 8;

/** The data of the API reference (`GET /contract`) and its relay to the gateway's own public side (`POST /try`). */
export function createReferenceRouter(sources: ReferenceSources): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/contract', (_req, res) => {
    res.json({
      ...describeContract(sources),
      gatewayUrl: urlOf(sources.publicAddress()),
      writable: sources.writable,
      readOnlyReason: sources.writable ? undefined : READ_ONLY_REASON,
    });
  });
  // The guard's first question is answered below: what changes nothing may be tried without a token.
  router.post('/try', createWriteGuard(true), express.json({ limit: MAX_FORM_BYTES }), createTry(sources));
  return router;
}

function createTry({ writable, publicAddress, publicBasePath }: ReferenceSources): RequestHandler {
  let running = 0;
  return async (req, res) => {
    const form = readTryRequest(req.body);
    const address = publicAddress();
    if (!form.ok) res.status(400).json({ error: form.message, field: form.field });
    else if (!writable && !SAFE_METHODS.has(form.request.method)) res.status(403).json({ error: READ_ONLY_REASON });
    else if (address === undefined) res.status(503).json({ error: 'The public side does not listen.' });
    else if (running >= MAX_TRIES_AT_ONCE)
      res.status(429).json({ error: 'Other requests are being tried; wait for them.' });
    else {
      running += 1;
      try {
        res.json(await sendTry(address, publicBasePath, form.request));
      } catch {
        // The error may quote what was sent.
        res.status(502).json({ error: 'The gateway gave no answer within a minute.' });
      } finally {
        running -= 1;
      }
    }
  };
}

function urlOf(address: PublicAddress | undefined): string {
  if (address === undefined) return '';
  return `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}
