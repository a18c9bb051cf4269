import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';

const [port, upstreamPort] = process.argv.slice(2);
const app = Fastify();
await app.register(httpProxy, { upstream: `http://127.0.0.1:${upstreamPort}` });
await app.listen({ port: Number(port), host: '127.0.0.1' });
