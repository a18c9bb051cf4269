// The peer: http-proxy-middleware alone in an Express app, with kept connections.
import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const target = process.argv[2];
const app = express();
app.use(createProxyMiddleware({ target, agent: new Agent({ keepAlive: true, timeout: 4000 }) }));
const server = app.listen(0, '127.0.0.1', () => console.error(`listening http://127.0.0.1:${server.address().port}`));
