// Receives the signed messages of a webhook, and writes a line about each into a chat.
// Usage: KEY_FILE=secrets/relay.key CHAT_URL=https://chat.example/hook PORT=8090 node relay.mjs
// Without CHAT_URL, it prints the lines.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { KEY_FILE = 'secrets/relay.key', CHAT_URL, PORT = '8090' } = process.env;
const MAX_BYTES = 1_000_000;
const MAX_SECONDS = 300;
const key = Buffer.from(readFileSync(KEY_FILE, 'utf8').split('\n', 1)[0].trim().slice('whsec_'.length), 'base64');
const seen = new Set();

/** Returns whether a message is signed with the key, and is not an old one that somebody sends again. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < MAX_SECONDS)) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  // There are two signatures while a key is being replaced.
  return signatures.split(' ').some((one) => {
    const [version, text = ''] = one.split(',', 2);
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function post(line) {
  if (CHAT_URL === undefined) {
    console.log(line);
    return;
  }
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(CHAT_URL, { method: 'POST', headers, body: JSON.stringify({ text: line }) });
  if (!response.ok) throw new Error(`the chat responds with ${response.status}`);
}

const server = createServer(async (request, response) => {
  try {
    let body = '';
    for await (const part of request.setEncoding('utf8')) {
      body += part;
      if (body.length > MAX_BYTES) return response.writeHead(413).end();
    }
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
    const id = request.headers['webhook-id'];
    // A message can come twice.
    if (!seen.has(id)) {
      const { type, data } = JSON.parse(body);
      await post(`${type}: ${data.item.title ?? data.target.id}`);
      seen.add(id);
      // Messages come in order, so the earliest are not needed any more.
      if (seen.size > 1000) seen.delete(seen.values().next().value);
    }
    response.writeHead(204).end();
  } catch (error) {
    console.error(error.message);
    // Portico sends the message again later.
    response.writeHead(500).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.error(`listening on port ${server.address().port}`));
