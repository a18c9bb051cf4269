import { serverErrors } from '../../../../src/profile/server-errors.ts';
import { describe, expect, it } from 'vitest';
import { DEFAULT_JSON_LIMITS } from '../../../../src/lib/bounded-json.ts';
import type { HeaderPairs } from '../../../../src/engine/model/header-pairs.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../../src/engine/model/upstream-failure.ts';
import { compilePermissionMessage } from '../../../../src/engine/upstream/failures/permission-message.ts';
import {
  type FailureContext,
  isPermissionDenial,
  normalizeFailure,
  errorShape,
} from '../../../../src/engine/upstream/failures/normalize-failure.ts';
import { UPSTREAM_DEFAULTS } from '../../../../src/engine/upstream/upstream-options.ts';
import type { StreamedBody } from '../../../../src/engine/model/streamed-body.ts';
import { bodyOf } from '../../../builders/streamed-body.ts';

describe('normalizeFailure', () => {
  const CHALLENGE = 'Basic realm="q"';
  const ATTACHMENTS = "Attachments is disabled or you don't have permission to add attachments to this issue.";
  const NO_PERMISSION = "You don't have permission to do this action.<br>Please login as another user";
  const NO_PERMISSION_TEXT = "You don't have permission to do this action. Please login as another user";

  const context: FailureContext = {
    documentedErrors: [],
    documentedFields: new Set(['id', 'list', 'success']),
    serverErrors,
    credential: 'caller',
    isPermissionMessage: compilePermissionMessage(UPSTREAM_DEFAULTS.permissionMessages),
    challenge: CHALLENGE,
    jsonLimits: DEFAULT_JSON_LIMITS,
  };

  const html = '<!DOCTYPE html><html><head><title>HTTP Status 401</title></head><body><h1>No</h1></body></html>';
  const error = (message: string) => JSON.stringify({ error: message });
  const errors = (message: string) => JSON.stringify({ errors: { message } });

  function translate(status: number, body: string, more: Partial<FailureContext> = {}, headers: HeaderPairs = []) {
    const translated = normalizeFailure({ status, headers, body: Buffer.from(body) }, { ...context, ...more });
    if (!translated) return undefined;
    const { code, message, headers: own } = translated.error;
    return {
      code,
      status: translated.error.status,
      text: message,
      headers: own,
      dropVerified: translated.dropVerified,
    };
  }

  describe('an upstream response (docs/rules.md §8)', () => {
    it.each([401, 403])(
      'with status %i and a permission message in either shape becomes a 403 without a challenge',
      (status) => {
        for (const body of [error(NO_PERMISSION), errors(NO_PERMISSION)]) {
          expect(translate(status, body)).toEqual({
            code: 'upstream_permission_denied',
            status: 403,
            text: NO_PERMISSION_TEXT,
            headers: {},
            dropVerified: false,
          });
        }
      },
    );

    it('with a permission message becomes a 401 for a caller without a credential', () => {
      expect(translate(401, errors(NO_PERMISSION), { credential: 'none' })).toMatchObject({
        code: 'credentials_required',
        status: 401,
        headers: { 'WWW-Authenticate': CHALLENGE },
        dropVerified: false,
      });
    });

    it.each([
      ['another message', error('Bad credentials'), 'Bad credentials'],
      ['the other shape', errors('Bad credentials'), 'Bad credentials'],
      ['JSON of another form', '{"a":1}', 'The upstream refused the credentials.'],
      ['nothing', '', 'The upstream refused the credentials.'],
      ['plain text', 'Unauthorized', 'The upstream refused the credentials.'],
    ])(
      'with status 401 and %s becomes a 401 with a challenge, and the verified entry is dropped',
      (_case, body, text) => {
        expect(translate(401, body)).toEqual({
          code: 'upstream_unauthorized',
          status: 401,
          text,
          headers: { 'WWW-Authenticate': CHALLENGE },
          dropVerified: true,
        });
      },
    );

    it('with status 401 for an anonymous caller drops nothing', () => {
      expect(translate(401, '', { credential: 'none' })).toMatchObject({
        code: 'upstream_unauthorized',
        dropVerified: false,
      });
    });

    it.each([error(NO_PERMISSION), error('Bad credentials'), '', html])(
      'with status 401 on a service credential becomes a 502: %s',
      (body) => {
        expect(translate(401, body, { credential: 'service' })).toMatchObject({
          code: 'upstream_credentials_refused',
          status: 502,
          headers: {},
          dropVerified: false,
        });
      },
    );

    it('with status 403 and a permission message on a service credential stays a 403', () => {
      expect(translate(403, error(NO_PERMISSION), { credential: 'service' })).toMatchObject({
        code: 'upstream_permission_denied',
      });
    });

    it.each([400, 401, 403, 404, 405, 409, 422])('that is an HTML page with status %i becomes a 502', (status) => {
      const json = [['Content-Type', 'application/json']] as const;
      for (const headers of [[], json]) {
        expect(translate(status, html, {}, headers)).toMatchObject({
          code: 'upstream_html',
          status: 502,
          dropVerified: false,
        });
      }
      expect(translate(status, 'no', {}, [['Content-Type', 'text/html;charset=utf-8']])).toMatchObject({
        code: 'upstream_html',
      });
    });

    it.each([
      [400, 'upstream_bad_request'],
      [404, 'upstream_not_found'],
      [409, 'upstream_conflict'],
      [422, 'upstream_unprocessable'],
    ])('with JSON and status %i keeps its status and its message', (status, code) => {
      expect(translate(status, error("No such 'x': a < b"))).toMatchObject({
        status,
        code,
        text: "No such 'x': a < b",
      });
      expect(translate(status, errors('gone'))).toMatchObject({ status, code, text: 'gone' });
      for (const body of ['', '{}', 'null', '{"error":{"a":1}}', '{"errors":[]}', '{"error":"<br>"}', 'text']) {
        expect(translate(status, body)).toMatchObject({
          status,
          code,
          text: expect.stringMatching(/^The upstream /) as string,
        });
      }
    });

    it.each([
      [400, 'The provided file does not have a valid user.'],
      [400, "The provided 'job id' is/are invalid"],
      [404, 'not found'],
      [403, ATTACHMENTS],
    ])('with status %i keeps the documented text exactly: %s', (status, text) => {
      expect(translate(status, error(text), { documentedErrors: [{ status, text }] })).toMatchObject({ status, text });
    });

    it('with status 401 and the documented text of a 403 is a permission message', () => {
      const documentedErrors = [{ status: 403, text: 'Only for gardeners.' }];
      expect(translate(401, error('Only for gardeners.'), { documentedErrors })).toMatchObject({ status: 403 });
      expect(translate(401, error('Only for gardeners.'))).toMatchObject({ status: 401 });
    });

    it('with status 403 without a permission message still becomes a 403', () => {
      expect(translate(403, '')).toMatchObject({
        code: 'upstream_permission_denied',
        text: 'The upstream denied permission.',
      });
    });

    it.each([['30'], ['Fri, 31 Dec 2027 23:59:59 GMT']])('with status 429 keeps `Retry-After: %s`', (value) => {
      expect(translate(429, error('slow down'), {}, [['retry-after', value]])).toEqual({
        code: 'upstream_rate_limited',
        status: 429,
        text: 'slow down',
        headers: { 'Retry-After': value },
        dropVerified: false,
      });
    });

    it('with status 429 gets no `Retry-After` if the upstream sent no valid one', () => {
      for (const value of ['soon', '-1', '1e3', '99999999999', '5, 6', 'Fri, 99 Dec 2027 23:59:59 GMT']) {
        expect(translate(429, '', {}, [['Retry-After', value]])?.headers).toEqual({});
      }
    });

    it.each([
      [500, 502, 'upstream_error'],
      [501, 502, 'upstream_error'],
      [502, 502, 'upstream_error'],
      [503, 503, 'upstream_unavailable'],
      [504, 504, 'upstream_timeout'],
      [599, 502, 'upstream_error'],
      [402, 502, 'upstream_error'],
      [405, 502, 'upstream_error'],
      [410, 502, 'upstream_error'],
      [418, 502, 'upstream_error'],
    ])('with status %i becomes a %i, without its text', (status, ours, code) => {
      expect(translate(status, error('java.lang.NullPointerException'))).toMatchObject({ status: ours, code });
      expect(translate(status, error('java.lang.NullPointerException'))?.text).not.toContain('java');
      if (status >= 500) expect(translate(status, html)).toMatchObject({ status: ours, code });
    });

    it('with status 503 keeps `Retry-After` or gets one', () => {
      expect(translate(503, '', {}, [['Retry-After', '7']])?.headers).toEqual({ 'Retry-After': '7' });
      expect(translate(503, '')?.headers).toEqual({ 'Retry-After': '5' });
    });

    it.each([301, 302, 303, 304, 307, 308])('that redirects with %i becomes a 502 without the target', (status) => {
      const redirect = translate(status, '', {}, [['Location', 'https://secret.example/']]);
      expect(redirect).toMatchObject({ code: 'upstream_redirect', status: 502 });
      expect(JSON.stringify(redirect)).not.toContain('secret');
    });

    it.each([error(NO_PERMISSION), errors(NO_PERMISSION)])(
      'with status 200 and only a permission message becomes a 403: %s',
      (body) => {
        expect(translate(200, body)).toMatchObject({
          code: 'upstream_permission_denied',
          status: 403,
          text: NO_PERMISSION_TEXT,
        });
      },
    );

    it.each([error('boom'), errors('boom'), '{"error":null}', '{"errors":[],"more":1}'])(
      'with status 200 and only an error becomes a 502: %s',
      (body) => {
        expect(translate(200, body)).toMatchObject({ code: 'upstream_error_in_success', status: 502 });
      },
    );

    it.each([
      '{"list":[],"error":"partial"}',
      '{"success":false,"errors":{"message":"x"}}',
      '{"id":1,"body":"\\"error\\""}',
      '[{"error":"x"}]',
      '{"nested":{"error":"x"}}',
      '{"error":',
      '',
      'null',
    ])('with status 200 is a success if it has a documented field, is a list or cannot be read: %s', (body) => {
      expect(translate(200, body)).toBeUndefined();
    });

    it('with both messages is a permission failure if either contains one', () => {
      const both = JSON.stringify({ error: 'x', errors: { message: NO_PERMISSION } });
      expect(translate(401, both)).toMatchObject({ code: 'upstream_permission_denied', status: 403 });
    });

    it.each(['<?xml version="1.0"?>\n<html></html>', '<!-- page -->\n<!DOCTYPE html><html></html>'])(
      'with status 401 is an HTML page whatever precedes the markup: %s',
      (body) => {
        expect(translate(401, body)).toMatchObject({ code: 'upstream_html', status: 502 });
      },
    );

    it('with status 200 and a byte order mark before its error is not a success', () => {
      expect(translate(200, `\uFEFF${error('boom')}`)).toMatchObject({ code: 'upstream_error_in_success' });
    });

    it('never leads to a message longer than 2,000 characters', () => {
      expect(translate(400, error('x'.repeat(100_000)))?.text).toHaveLength(2000);
    });

    it('that is larger than any error page is not searched for a message', () => {
      expect(translate(400, error('x'.repeat(400_000)))?.text).toBe('The upstream refused the request.');
    });
  });

  describe('a transport failure (docs/rules.md §8)', () => {
    it.each<[UpstreamFailureKind, number, string, string | undefined]>([
      ['refused', 502, 'upstream_refused', undefined],
      ['reset', 502, 'upstream_reset', undefined],
      ['truncated', 502, 'upstream_reset', undefined],
      ['too_large', 502, 'upstream_response_too_large', undefined],
      ['deadline', 504, 'upstream_timeout', undefined],
      ['shed', 503, 'upstream_overloaded', '1'],
      ['circuit_open', 503, 'upstream_circuit_open', '1'],
      ['aborted', 499, 'client_closed', undefined],
    ])('of kind %s is a %i', (kind, status, code, retryAfter) => {
      const translated = normalizeFailure(new UpstreamFailure(kind), context);
      expect(translated).toMatchObject({
        dropVerified: false,
        error: { status, code, headers: retryAfter ? { 'Retry-After': retryAfter } : {} },
      });
    });

    it('names the seconds after which a retry may succeed', () => {
      const translated = normalizeFailure(new UpstreamFailure('circuit_open', { retryAfterSeconds: 4 }), context);
      expect(translated?.error.headers).toEqual({ 'Retry-After': '4' });
    });
  });
});

describe('the shape of an error response', () => {
  const shapeOf = (body: string | StreamedBody, type = 'application/json') =>
    errorShape(
      {
        status: 500,
        headers: [['Content-Type', type]],
        body: typeof body === 'string' ? Buffer.from(body) : body,
      },
      serverErrors,
    );

  it.each([
    ['error', '{"error":"x"}'],
    ['error', '\uFEFF {"error":"x"}'],
    ['errors.message', '{"errors":{"message":"x"}}'],
    ['html', '<html><body>x'],
    ['html', '\n<!doctype HTML>'],
    ['empty', ' \n'],
    ['other', '{"error":1}'],
    ['other', '{"errors":"x"}'],
    ['other', '["error"]'],
    ['other', 'null'],
    ['other', 'no JSON'],
    ['other', '<error>xml</error>'],
    ['other', '{"__proto__":{"error":"x"}}'],
  ])('is %s for %j', (shape, body) => {
    expect(shapeOf(body)).toBe(shape);
  });

  it('follows the body if the type contradicts it', () => {
    expect(shapeOf('{"error":"x"}', 'text/html')).toBe('error');
    expect(shapeOf('Forbidden', 'TEXT/HTML; charset=x')).toBe('html');
  });

  it('is html after comments and a declaration', () => {
    for (const html of ['<?XML version="1.0"?>\n<!-- a --> <!---->\n<html>', '<!-- --><!DOCTYPE\n html>'])
      expect(shapeOf(html)).toBe('html');
    for (const other of ['<!-- <html> ', '<?xml <html', '<!---->', 'x<html>']) expect(shapeOf(other)).toBe('other');
  });

  // The attack: an error page that consists only of comments. Because of nested repetition in a regular expression,
  // each additional comment doubled the matching time. Thirty comments blocked the process for a minute, and a hundred
  // blocked it forever.
  it('is found after any number of comments', () => {
    expect(shapeOf(`${'<!---->'.repeat(30_000)}x`)).toBe('other');
    expect(shapeOf(`${'<!---->'.repeat(30_000)}<html>`)).toBe('html');
  });

  it('is other for JSON too deep to be an error', () => {
    expect(shapeOf('['.repeat(200_000))).toBe('other');
  });

  it('is other for a body that is still streaming', () => {
    expect(shapeOf(bodyOf('{"error":"x"}'))).toBe('other');
  });
});

describe('a permission denial', () => {
  const isMessage = (message: string) => message.includes('permission');
  const denies = (status: number, body: string) =>
    isPermissionDenial(
      { documentedErrors: [], serverErrors },
      { status, headers: [], body: Buffer.from(body) },
      isMessage,
    );

  it.each([
    [401, '{"error":"no permission"}', true],
    [401, '{"errors":{"message":"no permission"}}', true],
    [403, '{"error":"no permission"}', true],
    [403, '{"error":"whatever"}', true],
    [401, '{"error":"whatever"}', false],
    [401, '', false],
    [403, '<html>', false],
    [400, '{"error":"no permission"}', false],
    [200, '{"error":"no permission"}', false],
  ])('includes %i %s: %s', (status, body, expected) => {
    expect(denies(status, body)).toBe(expected);
  });

  // If attachments are disabled, operation 3 also returns its documented 403.
  it.each([
    [403, '{"error":"Disabled or no permission."}', false],
    [401, '{"errors":{"message":"Disabled<br>or no permission."}}', false],
    [403, '{"error":"whatever"}', false],
    [403, '{"error":"no permission"}', true],
    [401, '{"errors":{"message":"no permission"}}', true],
  ])('excludes a documented denial that has other causes: %i %s: %s', (status, body, expected) => {
    const causes = ['permission-denied', 'feature-disabled'];
    const documentedErrors = [{ status: 403, text: 'Disabled or no permission.', causes }];
    const response = { status, headers: [], body: Buffer.from(body) };
    expect(isPermissionDenial({ documentedErrors, serverErrors }, response, isMessage)).toBe(expected);
    const onlyPermission = [{ status: 403, text: 'Disabled or no permission.', causes: ['permission-denied'] }];
    expect(
      isPermissionDenial({ documentedErrors: onlyPermission, serverErrors }, { ...response, status: 403 }, isMessage),
    ).toBe(true);
  });
});
