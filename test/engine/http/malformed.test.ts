import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parserFault, requestHeadFault } from '../../../src/engine/http/malformed.ts';

const faultOf = (rawHeaders: readonly string[], more: Partial<IncomingMessage> = {}) =>
  requestHeadFault({ httpVersion: '1.1', url: '/', rawHeaders, ...more } as IncomingMessage)?.code;

describe('a request head', () => {
  it.each(['0.9', '1.2', '2.0', '3.0'])('is refused with version %s', (httpVersion) => {
    expect(faultOf(['Host', 'a'], { httpVersion })).toBe('malformed_request');
  });

  it.each(['qa.example', 'qa.example:8080', '127.0.0.1', '[::1]:80', ''])('is accepted with the host %j', (host) => {
    expect(faultOf(['hOsT', host])).toBeUndefined();
  });

  it.each(['a"b', 'a b', 'a/b', 'a@b', 'a<b>', 'a, b'])('is refused with an invalid host: %j', (host) => {
    expect(faultOf(['Host', host])).toBe('malformed_request');
  });

  it('is refused without a Host header, except in HTTP/1.0, and with two', () => {
    expect(faultOf([])).toBe('malformed_request');
    expect(faultOf([], { httpVersion: '1.0' })).toBeUndefined();
    expect(faultOf(['Host', 'a', 'HOST', 'a'])).toBe('malformed_request');
  });

  // Portico would check one credential, but a server behind it might use the other.
  it('is refused with two Authorization headers, whatever their case', () => {
    expect(faultOf(['Host', 'x', 'Authorization', 'Basic a', 'AUTHORIZATION', 'Basic a'])).toBe('malformed_request');
    const others = ['X-Authorization', 'b', 'Authenticated', 'c', 'Last-Modified', 'd'];
    expect(faultOf(['Host', 'x', 'Authorization', 'Basic a', ...others])).toBeUndefined();
  });

  it.each([
    ['chunked', undefined],
    ['CHUNKED', undefined],
    ['gzip, chunked', 'unknown_transfer_coding'],
    [',chunked', 'unknown_transfer_coding'],
    ['gzip', 'unknown_transfer_coding'],
  ])('with the transfer coding %j is handled accordingly', (coding, code) => {
    expect(faultOf(['Host', 'x', 'transfer-encoding', coding])).toBe(code);
  });

  it('is refused with any transfer coding in HTTP/1.0', () => {
    expect(faultOf(['Transfer-Encoding', 'chunked'], { httpVersion: '1.0' })).toBe('malformed_request');
  });

  it.each([
    ['http://x/a', 'x'],
    ['HTTP://X:80/a', 'x'],
    ['https://x?a', 'x:443'],
    ['*', 'x'],
  ])('is accepted with the target %s and the host %s', (url, host) => {
    expect(faultOf(['Host', host], { url })).toBeUndefined();
  });

  it.each([
    ['http://y/a', 'x'],
    ['http://x:443/a', 'x'],
    ['http://u@x/a', 'x'],
    ['http:///a', 'x'],
    ['ftp://x/a', 'x'],
    ['x:80', 'x:80'],
  ])('is refused with the target %s and the host %s', (url, host) => {
    expect(faultOf(['Host', host], { url })).toBe('malformed_request');
  });
});

describe('a parser error', () => {
  it.each([
    ['HPE_HEADER_OVERFLOW', '', 'headers_too_large'],
    ['ERR_HTTP_REQUEST_TIMEOUT', '', 'request_timeout'],
    ['HPE_INVALID_TRANSFER_ENCODING', 'Request has invalid `Transfer-Encoding`', 'unknown_transfer_coding'],
    ['HPE_INVALID_TRANSFER_ENCODING', "can't be present with Content-Length", 'malformed_request'],
    ['HPE_INVALID_METHOD', '', 'malformed_request'],
    ['ECONNRESET', '', undefined],
  ])('%s (%s) becomes %s', (code, reason, expected) => {
    expect(parserFault(Object.assign(new Error(code), { code, reason }))?.code).toBe(expected);
  });
});
