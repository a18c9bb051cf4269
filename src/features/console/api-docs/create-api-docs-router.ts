import { noteAction } from '../../../engine/http/admin-actions.ts';
import { needsSignIn } from '../../../engine/config/settings.ts';
import express, { type RequestHandler, type Router } from 'express';
import { hostInUrl } from '../../../lib/network-address.ts';
import { createWriteGuard, READ_ONLY_REASON } from '../../../engine/http/write-guard.ts';
import type { ConsoleSources } from '../console-sources.ts';
import { listedPages } from '../listed-pages.ts';
import { describeContract } from './describe-contract.ts';
import type { PublicAddress } from '../../../engine/running-gateway.ts';
import { readTryRequest, SAFE_METHODS, sendTry } from './send-try.ts';

/** The maximum size of a form in bytes. It allows for a GDPR upload of several thousand rows. */
const MAX_FORM_BYTES = 262_144;
const MAX_TRIES_AT_ONCE = 8;

/**
 * Creates the router for the API docs. It serves the data for the pages (`GET /contract`) and forwards requests to the
 * gateway's own public listener (`POST /try`).
 */
export function createReferenceRouter(sources: ConsoleSources): Router {
  const { settings, contract, gateway } = sources;
  const described = {
    contractVersion: contract.version,
    document: contract.document,
    operations: contract.operations,
    rules: contract.rules,
    checksFor: (id: string) => gateway().checksOf(id),
    publicBasePath: settings.publicBasePath,
  };
  // Without sign-in, the form can send only requests with safe methods.
  const writable = needsSignIn(settings);
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get('/contract', (_req, res) => {
    res.json({
      ...describeContract(described),
      schemes: gateway().schemes(),
      pages: listedPages(sources),
      gatewayUrl: urlOf(gateway().publicAddress()),
      writable,
      readOnlyReason: writable ? undefined : READ_ONLY_REASON,
    });
  });
  // The handler below checks for the token, because safe methods can be tried without one.
  router.post('/try', createWriteGuard(true), express.json({ limit: MAX_FORM_BYTES }), createTry(sources, writable));
  return router;
}

function createTry({ gateway, settings }: ConsoleSources, writable: boolean): RequestHandler {
  const { publicBasePath, profile } = settings;
  let running = 0;
  return async (req, res) => {
    const form = readTryRequest(req.body, profile.basePath);
    const address = gateway().publicAddress();
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
