import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { noteRoute, reportActions } from '../../../src/engine/http/admin-actions.ts';
import type { OperatorAction } from '../../../src/engine/model/operator-action.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';

/** Sends a reload to a handler. Returns what happened, in order, once the request has ended. */
async function reloadWith(handler: RequestHandler): Promise<readonly string[]> {
  const events: string[] = [];
  const ended = Promise.withResolvers<void>();
  const acted = ({ action, outcome }: OperatorAction) => events.push(`${action} ${outcome}`);
  const app = express();
  app.use((_req, res, next) => {
    res.once('finish', () => events.push('sent'));
    res.once('close', ended.resolve);
    next();
  });
  app.use(reportActions(acted, () => 0));
  app.use('/reload', noteRoute({ actions: { '/': 'reload' } }), handler);
  const server = createServer(app).listen(0, '127.0.0.1');
  cleanUpAfterTest(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', path: '/reload', method: 'POST', agent: false });
  sent.on('response', (response) => response.resume());
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
