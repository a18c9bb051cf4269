import { expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { UpstreamFailure } from '../../src/model/upstream-failure.ts';
import { failureWords } from '../../src/walk/failure-words.ts';

const failedWith = (code: string) =>
  new GatewayError('upstream_refused', 'The upstream cannot be reached.', {
    cause: new UpstreamFailure('refused', { cause: Object.assign(new Error('no'), { code }) }),
  });

it.each([
  ['ECONNREFUSED', 'The upstream cannot be reached (ECONNREFUSED).'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'Its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); NODE_EXTRA_CA_CERTS'],
  ['CERT_HAS_EXPIRED', 'Its certificate is not trusted (CERT_HAS_EXPIRED)'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'It does not speak TLS as expected (ERR_SSL_WRONG_VERSION_NUMBER).'],
  ['UND_ERR_SOCKET', 'The upstream cannot be reached.'],
])('%s is told', (code, words) => {
  expect(failureWords(failedWith(code))).toContain(words);
});
