import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/features/changes/event.ts';
import { readKeys, webhookMessage } from '../../../src/features/changes/webhook-message.ts';

const EVENT: FeedEvent = {
  number: 7,
  at: Date.UTC(2026, 0, 2, 3, 4, 5),
  source: 'listBooks',
  kind: 'book.created',
  target: { type: 'book', id: '12' },
  title: '<!channel> @everyone *free* [here](http://x)',
  data: '{"id":12}',
};
const NOW = 1_767_322_999_500;
const about = { lineage: '0badcafe', now: NOW, keys: [] };

describe('a signed message', () => {
  // The example of the specification of Standard Webhooks.
  const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  it('has the signature of Standard Webhooks', () => {
    const keys = readKeys(KEY) ?? [];
    const { headers, body } = webhookMessage(EVENT, { ...about, keys, format: 'standard' });
    expect(JSON.parse(body)).toEqual({
      type: 'book.created',
      timestamp: '2026-01-02T03:04:05.000Z',
      data: { id: '0badcafe.7', list: 'listBooks', target: { type: 'book', id: '12' }, item: { id: 12 } },
    });
    expect(headers).toMatchObject({ 'webhook-id': '0badcafe.7', 'webhook-timestamp': '1767322999' });
  });

  it('is accepted by the library of Standard Webhooks with each of the keys, so that keys can be replaced', () => {
    const earlier = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const keys = readKeys(`${KEY}\n\n${earlier}\n`) ?? [];
    // The library refuses messages that are older than five minutes.
    const { headers, body } = webhookMessage(EVENT, { ...about, keys, now: Date.now(), format: 'standard' });
    for (const key of [KEY, earlier]) expect(new Webhook(key).verify(body, { ...headers })).toEqual(JSON.parse(body));
    const other = new Webhook(`whsec_${Buffer.alloc(32, 2).toString('base64')}`);
    expect(() => other.verify(body, { ...headers })).toThrow(WebhookVerificationError);
    expect(() => new Webhook(KEY).verify(body.replace('12', '13'), { ...headers })).toThrow(WebhookVerificationError);
    const moved = { ...headers, 'webhook-id': '0badcafe.8' };
    expect(() => new Webhook(KEY).verify(body, moved)).toThrow(WebhookVerificationError);
  });

  it.each([
    '',
    'whsec_',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_c2hvcnQ=',
    `${KEY}!`,
    Array(4).fill(KEY).join('\n'),
  ])('has no keys such as %j', (text) => expect(readKeys(text)).toBeUndefined());
});

describe('a message to a chat', () => {
  const bodyOf = (format: 'slack' | 'discord' | 'teams') =>
    JSON.parse(webhookMessage(EVENT, { ...about, format }).body) as Record<string, never>;

  it('mentions nobody, whatever users write', () => {
    expect(bodyOf('slack')).toEqual({
      text: 'book.created: &lt;!channel&gt; @everyone *free* [here](http://x) (book 12)',
    });
    expect(bodyOf('discord')).toMatchObject({ allowed_mentions: { parse: [] } });
    const [card] = bodyOf('teams')['attachments'] as unknown as { content: { body: { text: string }[] } }[];
    expect(card?.content.body[0]?.text).toContain(String.raw`\[here\]\(http://x\)`);
  });
});
