import { expect, it } from 'vitest';
import { ticketKeysIn } from '../../src/profile/exploration.ts';

it('finds keys by their form and by the names of their fields at any depth', () => {
  const ticket = {
    issues: [{ id: 'QA-17', link: { key: 'ticket-abc' } }, { issueKey: 'x9' }],
    key: '',
    title: 'no key',
  };
  expect(ticketKeysIn(ticket)).toEqual(['QA-17', 'ticket-abc', 'x9']);
});

it.each(['apiKey', 'api_key', 'accessKey', 'sessionKey', 'secret-key', 'licenseKey', 'signingKey'])(
  'sends no request with the value of %s',
  (name) => {
    expect(ticketKeysIn({ [name]: 'kJ83hsL0aaQw', key: 'QA-17' })).toEqual(['QA-17']);
  },
);
