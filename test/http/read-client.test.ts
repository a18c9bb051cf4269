import type { IncomingMessage } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { callAt } from '../builders/call.ts';
import { type Client, createReadClient } from '../../src/http/read-client.ts';
import { serve } from './serve.ts';

/** Who a request with these fields comes from, by a reader with these trusted proxies. */
async function readWith(trustedProxies: readonly string[], headers: Readonly<Record<string, string>>): Promise<Client> {
  const app = express();
  app.set('trust proxy', trustedProxies.length === 0 ? false : [...trustedProxies]);
  const readClient = createReadClient(app, trustedProxies);
  const { promise, resolve } = Promise.withResolvers<Client>();
  const { url } = await serve((request, response) => {
    resolve(readClient(request));
    response.end();
  });
  await callAt(url, '/', { headers });
  return promise;
}

const FORWARDED = { 'X-Forwarded-For': '198.51.100.7', 'X-Forwarded-Proto': 'https' };

describe('the client of a request', () => {
  it('is the other end of the connection where no proxy is trusted, whatever the fields say', async () => {
    expect(await readWith([], FORWARDED)).toEqual({ address: '127.0.0.1', protocol: 'http' });
  });

  it('is who a trusted proxy says it is', async () => {
    expect(await readWith(['127.0.0.1'], FORWARDED)).toEqual({ address: '198.51.100.7', protocol: 'https' });
  });

  it('is the other end of a connection that is no trusted proxy', async () => {
    expect(await readWith(['192.0.2.0/24'], FORWARDED)).toEqual({ address: '127.0.0.1', protocol: 'http' });
  });

  it('is nobody once the connection is gone', () => {
    const gone = { socket: { remoteAddress: undefined } } as unknown as IncomingMessage;
    expect(createReadClient(express(), [])(gone)).toEqual({ address: '', protocol: 'http' });
  });
});
