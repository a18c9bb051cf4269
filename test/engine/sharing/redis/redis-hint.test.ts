import { expect, it } from 'vitest';
import { redisHint } from '../../../../src/engine/sharing/redis/redis-hint.ts';

it.each([
  ['NOAUTH', /^the server requires a password; set redis\.password .*\(NOAUTH\)$/],
  ['ECONNREFUSED', /^the server does not accept connections on this port; .*\(ECONNREFUSED\)$/],
  ['ECONNRESET', /redis:\/\/ or rediss:\/\/ \(ECONNRESET\)$/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^the TLS handshake fails; .* start with redis:\/\//],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /redis\.tls\.caFile/],
  ['ERR', /^the server responds with the error ERR$/],
  ['connection failed', /^the connection is closed; check whether the URL leads to a Redis server$/],
  ['Redis did not reply in time', /^Redis did not reply in time$/],
])('the hint for %s', (reason, hint) => {
  expect(redisHint(reason)).toMatch(hint);
});
