import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/features/trail/audit-entry.ts';
import { auditRequests } from '../../../src/features/trail/audit-requests.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';

/** Sends a reload to a handler. Returns what happened, in order, once the request has ended. */
async function reloadWith(handler: RequestHandler): Promise<readonly string[]> {
  const events: string[] = [];
  const ended = Promise.withResolvers<void>();
  const record = ({ action, outcome }: AuditEntry) => {
    events.push(`${action} ${outcome}`);
    return Promise.resolve(true);
  };
  const app = express();
  app.use((_req, res, next) => {
    res.once('finish', () => events.push('sent'));
    res.once('close', ended.resolve);
    next();
  });
  app.use(auditRequests({ record }, () => 0));
  app.post('/reload', handler);
  const server = createServer(app).listen(0, '127.0.0.1');
  cleanUpAfterTest(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', path: '/reload', method: 'POST', agent: false });
  sent.on('response', (answer) => answer.resume());
  // In one test, the connection is closed on purpose.
  sent.on('error', () => undefined);
  sent.end();
  await ended.promise;
  return events;
}

it('a change has its entry before the response is sent', async () => {
  expect(await reloadWith((_req, res) => void res.json({}))).toEqual(['reload done', 'sent']);
  expect(await reloadWith((_req, res) => void res.status(422).json({ error: 'no' }))).toEqual([
    'reload refused',
    'sent',
  ]);
});

it('a change has one entry even if the client goes away', async () => {
  expect(await reloadWith((req) => void req.socket.destroy())).toEqual(['reload done']);
});
