import { join } from 'node:path';
import express, { type Router } from 'express';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import { auditEntryJson } from './audit-entry.ts';
import { SHOWN_ENTRIES } from './audit-file.ts';
import type { AuditTrail } from './audit-trail.ts';

type Shown = Pick<AuditTrail, 'entries'>;

/** Returns the page that lists what operators did. */
export function trailPage(trail: Shown): OperatorPage {
  return {
    name: 'audit',
    title: 'Audit',
    position: 90,
    folder: join(import.meta.dirname, 'pages'),
    data: () => trailRouter(trail),
  };
}

/** Returns the router that lists the entries, newest first. */
export function trailRouter(trail: Shown): Router {
  return express.Router().get('/', async (_req, res) => {
    res.json({ shown: SHOWN_ENTRIES, entries: (await trail.entries()).map(auditEntryJson).toReversed() });
  });
}
