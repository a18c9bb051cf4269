import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const [port, upstreamPort] = process.argv.slice(2);
const app = express();
app.use(createProxyMiddleware({ target: `http://127.0.0.1:${upstreamPort}`, agent: new Agent({ keepAlive: true }) }));
app.listen(Number(port), '127.0.0.1');
