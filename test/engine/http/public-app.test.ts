import { createServer } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { messageClassesOf } from '../../../src/engine/http/public-app.ts';
import { serve } from './serve.ts';

describe('messageClassesOf', () => {
  it('gives requests and responses the prototypes that Express would set', async () => {
    const app = express();
    const classes = messageClassesOf(app);
    const seen: boolean[] = [];
    app.use((req, res) => {
      seen.push(Object.getPrototypeOf(req) === classes.IncomingMessage.prototype);
      seen.push(Object.getPrototypeOf(res) === classes.ServerResponse.prototype);
      res.json({ path: req.path, type: req.get('x-type') });
    });
    const listener: (req: unknown, res: unknown) => void = app as never;
    const server = createServer(classes, (req, res) => {
      seen.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
      listener(req, res);
    });
    const { url } = await serve(server);
    const response = await fetch(`${url}/a?b=1`, { headers: { 'x-type': 't' } });
    // The methods that Express adds are there, too.
    expect(await response.json()).toEqual({ path: '/a', type: 't' });
    expect(seen).toEqual([true, true, true, true]);
  });
});
