import { describe, expect, it } from 'vitest';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../src/engine/model/upstream-failure.ts';

const failed = (kind: UpstreamFailureKind, code: string) =>
  new UpstreamFailure(kind, { cause: Object.assign(new Error('x'), { code }) }).facts;

describe('the cause of a failed exchange', () => {
  it.each([
    ['refused', 'ENOTFOUND', 'dns_error'],
    ['refused', 'EAI_AGAIN', 'dns_error'],
    ['refused', 'ECONNREFUSED', 'connection_refused'],
    ['refused', 'EHOSTUNREACH', 'destination_ip_unroutable'],
    ['refused', 'ECONNRESET', 'connection_terminated'],
    ['refused', 'EMFILE', 'destination_unavailable'],
    ['refused', 'CERT_HAS_EXPIRED', 'tls_certificate_error'],
    ['refused', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_certificate_error'],
    ['refused', 'ERR_TLS_CERT_ALTNAME_INVALID', 'tls_certificate_error'],
    ['refused', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_certificate_error'],
    ['refused', 'ERR_SSL_WRONG_VERSION_NUMBER', 'tls_protocol_error'],
    ['refused', 'EPROTO', 'tls_protocol_error'],
    ['refused', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_alert_received'],
    ['deadline', 'UND_ERR_CONNECT_TIMEOUT', 'connection_timeout'],
    ['deadline', 'UND_ERR_HEADERS_TIMEOUT', 'http_response_timeout'],
    ['deadline', 'UND_ERR_BODY_TIMEOUT', 'connection_read_timeout'],
    ['reset', 'ECONNRESET', 'connection_terminated'],
    ['reset', 'HPE_INVALID_CONSTANT', 'http_protocol_error'],
    ['truncated', 'ECONNRESET', 'http_response_incomplete'],
    ['truncated', 'Z_DATA_ERROR', 'http_response_content_coding'],
    ['too_large', 'UND_ERR_HEADERS_OVERFLOW', 'http_response_header_section_size'],
    ['too_large', 'ERR_BUFFER_TOO_LARGE', 'http_response_body_size'],
  ] as const)('of kind %s with the code %s is %s', (kind, code, cause) => {
    expect(failed(kind, code)).toEqual({ cause, code });
  });

  it.each([
    ['refused', 'destination_unavailable'],
    ['reset', 'connection_terminated'],
    ['truncated', 'http_response_incomplete'],
    ['deadline', 'http_response_timeout'],
    ['shed', 'connection_limit_reached'],
    ['circuit_open', 'destination_unavailable'],
    ['too_large', 'http_response_body_size'],
  ] as const)('of kind %s without a code is %s', (kind, cause) => {
    expect(new UpstreamFailure(kind).facts).toEqual({ cause });
  });

  it('is unknown if the client disconnected', () => {
    expect(failed('aborted', 'ECONNRESET')).toBeUndefined();
  });

  it('contains no code that is not a constant', () => {
    // The code could come from a library and contain part of a message.
    expect(failed('reset', 'secret of alice@example.org')).toEqual({ cause: 'connection_terminated' });
  });
});
