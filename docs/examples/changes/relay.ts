// Receives the signed messages of a webhook, and writes a line about each into a chat.
// Usage: KEY_FILE=secrets/relay.key CHAT_URL=https://chat.example/hook PORT=8090 node relay.ts
// Without CHAT_URL, it prints the lines.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const { KEY_FILE = 'secrets/relay.key', CHAT_URL, PORT = '8090' } = process.env;
const MAX_BYTES = 1_000_000;
const MAX_SECONDS = 300;
const MAX_SEEN = 1_000;
const [line = ''] = readFileSync(KEY_FILE, 'utf8').split('\n', 1);
if (!line.startsWith('whsec_')) throw new Error(`${KEY_FILE} does not begin with whsec_`);
const key = Buffer.from(line.trim().slice('whsec_'.length), 'base64');
const seen = new Set<string>();

/** Returns whether a message is signed with the key, and is not an old one that somebody sends again. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  );
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < MAX_SECONDS)) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  // There are two signatures while a key is being replaced.
  return (signatures ?? '').split(' ').some((one) => {
    const [version, text = ''] = one.split(',', 2);
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function post(text: string): Promise<void> {
  if (CHAT_URL === undefined) {
    console.log(text);
    return;
  }
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(CHAT_URL, { method: 'POST', headers, body: JSON.stringify({ text }) });
  if (!response.ok) throw new Error(`the chat responds with ${response.status}`);
}

/** Handles a message. Returns the status of the response. */
async function receive(request: IncomingMessage): Promise<number> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) {
    body += String(part);
    if (body.length > MAX_BYTES) return 413;
  }
  if (!isGenuine(request.headers, body)) return 401;
  const id = String(request.headers['webhook-id']);
  // A message can come twice.
  if (seen.has(id)) return 204;
  const message = JSON.parse(body) as {
    readonly type: string;
    readonly data: { readonly target: { readonly id: string }; readonly item: { readonly title?: string } };
  };
  await post(`${message.type}: ${message.data.item.title ?? message.data.target.id}`);
  seen.add(id);
  // Messages come in order, so the earliest are not needed any more.
  if (seen.size > MAX_SEEN) for (const earliest of [...seen].slice(0, 1)) seen.delete(earliest);
  return 204;
}

const server = createServer((request, response) => {
  void receive(request)
    // Portico sends the message again later.
    .catch((error: unknown) => {
      console.error(error);
      return 500;
    })
    .then((status) => response.writeHead(status).end());
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.error(`listening on port ${(server.address() as AddressInfo).port}`);
});
