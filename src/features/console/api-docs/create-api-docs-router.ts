import { noteAction } from '../../../engine/http/admin-actions.ts';
import express, { type RequestHandler, type Router } from 'express';
import { hostInUrl } from '../../../lib/network-address.ts';
import { createWriteGuard, READ_ONLY_REASON } from '../../../engine/http/write-guard.ts';
import { describeContract, type DescribedSources } from './describe-contract.ts';
import { type PublicAddress, readTryRequest, SAFE_METHODS, sendTry } from './send-try.ts';

/** The sources for the API docs, and the address to which the "Try it" form sends requests. */
export interface ReferenceSources extends DescribedSources {
  /** True if operators must sign in. If not, the form can send only requests with safe methods. */
  readonly writable: boolean;
  /** The path under which all of the API's addresses lie. */
  readonly basePath: string;
  /** The address of the public listener. Undefined while it is not listening. */
  readonly publicAddress: () => PublicAddress | undefined;
}

/** The maximum size of a form in bytes. It allows for a GDPR upload of several thousand rows. */
const MAX_FORM_BYTES = 262_144;
const MAX_TRIES_AT_ONCE = 8;

/**
 * Creates the router for the API docs. It serves the data for the pages (`GET /contract`) and forwards requests to the
 * gateway's own public listener (`POST /try`).
 */
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
  // The handler below checks for the token, because safe methods can be tried without one.
  router.post('/try', createWriteGuard(true), express.json({ limit: MAX_FORM_BYTES }), createTry(sources));
  return router;
}

function createTry({ writable, publicAddress, publicBasePath, basePath }: ReferenceSources): RequestHandler {
  let running = 0;
  return async (req, res) => {
    const form = readTryRequest(req.body, basePath);
    const address = publicAddress();
    if (form.ok)
      noteAction(res, { isReported: SAFE_METHODS.has(form.request.method), subject: { method: form.request.method } });
    if (!form.ok) res.status(400).json({ error: form.message, field: form.field });
    else if (!writable && !SAFE_METHODS.has(form.request.method)) res.status(403).json({ error: READ_ONLY_REASON });
    else if (address === undefined) res.status(503).json({ error: 'The public listener is not listening.' });
    else if (running >= MAX_TRIES_AT_ONCE)
      res.status(429).json({ error: 'Too many requests are in progress; try again later.' });
    else {
      running += 1;
      try {
        res.json(await sendTry(address, publicBasePath, form.request));
      } catch {
        // The error's message is omitted because it may quote the request.
        res.status(502).json({ error: 'The gateway did not respond within a minute.' });
      } finally {
        running -= 1;
      }
    }
  };
}

function urlOf(address: PublicAddress | undefined): string {
  if (address === undefined) return '';
  return `http://${hostInUrl(address.host)}:${address.port}`;
}
