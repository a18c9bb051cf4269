// An Express application with Portico as middleware: the application handles its own routes, and Portico handles all
// others.
// Run it with: UPSTREAM_URL=https://qa.example.org/real-answers node examples/express-app.ts
import { randomUUID } from 'node:crypto';
import express from 'express';
import basicAuth from 'express-basic-auth';
import { createPortico } from 'portico';

const portico = await createPortico({ mode: 'observe', ledger: { file: ':memory:' } });

const app = express();
app.get('/hello', (_req, res) => void res.json({ hello: 'world' }));
// Add body parsers only after Portico, because it needs to read request bodies itself.
app.use(portico);

// The admin side is for operators only. Any middleware can protect it; this example requires a name and a password.
const operators = express();
operators.use(basicAuth({ users: { operator: process.env['OPERATOR_PASSWORD'] ?? randomUUID() }, challenge: true }));
operators.use(portico.admin);

const publicServer = app.listen(Number(process.env['PORT'] ?? 8080), () => {
  console.log('listening on', publicServer.address());
});
const adminServer = operators.listen(Number(process.env['ADMIN_PORT'] ?? 8081), '127.0.0.1');

process.once('SIGTERM', () => {
  adminServer.close();
  publicServer.close(() => void portico.close());
});
