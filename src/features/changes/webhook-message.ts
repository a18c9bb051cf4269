import { createHmac } from 'node:crypto';
import { trimEndOf } from '../../lib/trim-end.ts';
import { type FeedEvent, OWN_SOURCE, publicId } from './event.ts';
import type { WebhookOptions } from './options.ts';

/** A message that a webhook sends. */
export interface WebhookMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const PREFIX = 'whsec_';

/**
 * Reads the signing keys in a text with one key per line, the newest first. Returns undefined if one of them is not in the
 * form of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes.
 */
export function readKeys(text: string): readonly Buffer[] | undefined {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const keys = lines.flatMap((line) => {
    const encoded = line.startsWith(PREFIX) ? line.slice(PREFIX.length) : '';
    const key = Buffer.from(encoded, 'base64');
    const isCanonical = trimEndOf(key.toString('base64'), '=') === trimEndOf(encoded, '=');
    return isCanonical && key.length >= 24 && key.length <= 64 ? [key] : [];
  });
  return keys.length === lines.length && keys.length > 0 && keys.length <= MAX_KEYS ? keys : undefined;
}

/** The maximum number of keys of a webhook: the current one, and those that receivers may still use. */
const MAX_KEYS = 3;

/**
 * Returns the message for an event. A signed message has the headers of Standard Webhooks, with one signature for each
 * key, so that keys can be replaced while receivers still have the earlier one. The id is that of the event, so receivers
 * recognize a message that is sent twice.
 */
export function webhookMessage(
  event: FeedEvent,
  {
    format,
    keys,
    lineage,
    now,
  }: {
    readonly format: WebhookOptions['format'];
    readonly keys: readonly Buffer[];
    readonly lineage: string;
    /** The time of the attempt, in epoch milliseconds. */
    readonly now: number;
  },
): WebhookMessage {
  const id = publicId(lineage, event.number);
  const body = bodyOf(event, format, id);
  const timestamp = String(Math.floor(now / 1000));
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'portico',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
    },
  };
}

function bodyOf(event: FeedEvent, format: WebhookOptions['format'], id: string): string {
  const { kind, at, source, target, data } = event;
  if (format === 'standard') {
    const head = JSON.stringify({ type: kind, timestamp: new Date(at).toISOString() });
    const about = JSON.stringify({ id, list: source, target });
    // The item is JSON already.
    return `${head.slice(0, -1)},"data":${about.slice(0, -1)},"item":${data}}}`;
  }
  const line = lineOf(event);
  if (format === 'slack') return JSON.stringify({ text: escapeSlack(line) });
  if (format === 'discord') return JSON.stringify({ content: line, allowed_mentions: { parse: [] } });
  return JSON.stringify({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [{ type: 'TextBlock', text: escapeMarkdown(line), wrap: true }],
        },
      },
    ],
  });
}

/** Returns the line that people read in a chat. */
function lineOf({ kind, source, target, title }: FeedEvent): string {
  const words = title ?? `${target.type} ${target.id}`;
  return source === OWN_SOURCE ? `Portico: ${words}` : `${kind}: ${words} (${target.type} ${target.id})`;
}

/** Texts of users must not mention anybody, or look like a link to somewhere else. */
const escapeSlack = (line: string) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const escapeMarkdown = (line: string) => line.replaceAll(/[\\`*_[\]()<>#~|]/g, String.raw`\$&`);
