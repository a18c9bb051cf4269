import { join } from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import { noteAction } from '../../engine/http/admin-actions.ts';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { publicId } from './event.ts';
import type { RunningFeed } from './run-feed.ts';

/** The number of events on the page. */
const SHOWN_EVENTS = 50;

/** The names of the changes that operators can make, by the ends of their paths. */
export const ACTIONS = { '/retry': 'dead letters sent again' };

/** Returns the page about the lists that are read, the webhooks, and the latest events, without their data. */
export function changesPage(feed: RunningFeed): OperatorPage {
  return {
    name: 'changes',
    title: 'Changes',
    position: 70,
    folder: join(import.meta.dirname, 'pages'),
    actions: ACTIONS,
    data: (guard) => changesRouter(feed, [guard]),
  };
}

/** Returns the router of the feed's state. `guard` protects the changes. */
export function changesRouter(feed: RunningFeed, guard: readonly RequestHandler[] = []): Router {
  const router = express.Router();
  router.get('/', async (_req, res) => {
    await feed.webhooks.refresh();
    const { last, removed } = await feed.store.range();
    const events = await feed.store.after(Math.max(removed, last - SHOWN_EVENTS), SHOWN_EVENTS);
    res.json({
      works: feed.isWorking(),
      path: feed.path,
      lists: feed.poller.status(),
      webhooks: feed.webhooks.status(),
      subscribers: feed.subscribers.size,
      stored: last - removed,
      events: events.toReversed().map(({ number, at, kind, source, target }) => {
        // Operators need not be allowed to read items.
        return { id: publicId(feed.lineage(), number), at, kind, list: source, target };
      }),
    });
  });
  router.post('/retry', ...guard, express.json({ limit: 4_096 }), async ({ body }, res) => {
    const { webhook } = membersOf(body);
    const count = typeof webhook === 'string' ? await feed.webhooks.retryDead(webhook) : undefined;
    if (count === undefined) {
      res.status(400).json({ error: 'Provide the name of a webhook.' });
      return;
    }
    noteAction(res, { subject: { webhook }, after: { count } });
    res.json({ webhook, count });
  });
  return router;
}
