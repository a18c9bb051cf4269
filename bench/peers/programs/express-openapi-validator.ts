import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import express, { type Response } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { createProxyMiddleware } from 'http-proxy-middleware';

const [port, upstreamPort] = process.argv.slice(2);
const apiSpec = fileURLToPath(new URL('../../../schemas/openapi.yaml', import.meta.url));

const app = express();
app.use(OpenApiValidator.middleware({ apiSpec, validateRequests: true, validateResponses: true }));
app.use(
  createProxyMiddleware({
    target: `http://127.0.0.1:${upstreamPort}`,
    agent: new Agent({ keepAlive: true }),
    selfHandleResponse: true,
    on: {
      // The validator checks only bodies sent with res.json, so each response is buffered, parsed and serialized again.
      proxyRes: (incoming, _request, response) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('end', () => {
          (response as Response).status(incoming.statusCode ?? 502).json(JSON.parse(Buffer.concat(parts).toString()));
        });
      },
    },
  }),
);
app.listen(Number(port), '127.0.0.1');
