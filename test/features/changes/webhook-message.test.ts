import { createHmac } from 'node:crypto';
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
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const signed = createHmac('sha256', secret).update(`0badcafe.7.1767322999.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signed}`);
  });

  it('signs as the specification of Standard Webhooks shows', () => {
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const example = createHmac('sha256', secret).update('msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}');
    expect(example.digest('base64')).toBe('g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('has a signature for each key, so that keys can be replaced', () => {
    const keys = readKeys(`whsec_${Buffer.alloc(32, 1).toString('base64')}\n\n${KEY}\n`) ?? [];
    const { headers } = webhookMessage(EVENT, { ...about, keys, format: 'standard' });
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
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
