import type { NextFunction, Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { type AdminGuardOptions, createAdminGuard } from '../../../src/engine/http/admin-guard.ts';
import { createTestClock } from '../../builders/test-clock.ts';

interface Verdict {
  status: unknown;
  fields: Record<string, unknown>;
  body?: unknown;
}

/**
 * Creates a guard. Returns a function that passes a request to the guard and returns its verdict. The verdict's status
 * is `in` if the guard admits the request.
 */
function guardOf(options: AdminGuardOptions) {
  const guard = createAdminGuard(options);
  return (headers: Readonly<Record<string, string>>, remoteAddress = '192.0.2.1'): Verdict => {
    const seen: Verdict = { status: 'nothing', fields: {} };
    const response = {
      status: (status: number) => {
        seen.status = status;
        return response;
      },
      set: (name: string, value: unknown) => {
        seen.fields[name] = value;
        return response;
      },
      type: () => response,
      send: (body: unknown) => {
        seen.body = body;
        return response;
      },
      json: (body: unknown) => {
        seen.body = body;
        return response;
      },
    };
    const next: NextFunction = () => {
      seen.status = 'in';
    };
    guard({ headers, socket: { remoteAddress } } as unknown as Request, response as unknown as Response, next);
    return seen;
  };
}

const guarded = (options: AdminGuardOptions, headers: Readonly<Record<string, string>>) => guardOf(options)(headers);

const asBasic = (token: string, name = 'anybody') => `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}`;

const local: AdminGuardOptions = { loopback: true, token: undefined };
const remote: AdminGuardOptions = { loopback: false, token: undefined };
const bearer: AdminGuardOptions = { loopback: false, token: 'secret' };

describe('the guard of the admin side', () => {
  it.each(['127.0.0.1:8081', 'localhost', 'LOCALHOST:1', '[::1]:8081', '127.1.2.3'])(
    'admits callers on loopback under a loopback name: %s',
    (host) => {
      expect(guarded(local, { host }).status).toBe('in');
    },
  );

  // A page on another site can make its own host name resolve to 127.0.0.1 (DNS rebinding).
  it.each(['evil.example:8081', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil127.0.0.1', ''])(
    'denies access under another name: %s',
    (host) => {
      expect(guarded(local, { host }).status).toBe(403);
    },
  );

  it('denies access beyond loopback without a token', () => {
    expect(guarded(remote, { host: '127.0.0.1' }).status).toBe(403);
  });

  it('admits requests with the token, and challenges all others', () => {
    expect(guarded(bearer, { host: 'admin.example', authorization: 'Bearer secret' }).status).toBe('in');
    const wrong = ['', 'Bearer', 'Bearer secret2', 'Bearer secre', 'Digest secret', 'Basic secret', asBasic('secret2')];
    for (const authorization of [undefined, ...wrong])
      expect(
        guarded(bearer, { host: 'admin.example', ...(authorization !== undefined && { authorization }) }),
      ).toMatchObject({
        status: 401,
        fields: {
          'WWW-Authenticate': ['Basic realm="Portico admin", charset="UTF-8"', 'Bearer realm="Portico admin"'],
        },
      });
  });

  it.each([
    asBasic('secret'),
    asBasic('secret', ''),
    asBasic('secret', 'ä'),
    asBasic('secret').replace('Basic', 'basic'),
  ])('admits browsers, which send the token as a password under any name: %s', (authorization) => {
    expect(guarded(bearer, { host: 'admin.example', authorization }).status).toBe('in');
  });

  it('uses everything after the first colon as the token', () => {
    const options = { loopback: false, token: 'se:cr:et' };
    expect(guarded(options, { host: 'admin.example', authorization: asBasic('se:cr:et') }).status).toBe('in');
  });

  it('delays an address that tried too many wrong tokens, even with the right one, but no other address', () => {
    const clock = createTestClock();
    const ask = guardOf({ ...bearer, clock });
    const host = 'admin.example';
    const wrong = Array.from({ length: 21 }, () => ask({ host, authorization: 'Bearer guess' }).status);
    expect([wrong[19], wrong[20]]).toEqual([401, 429]);
    const right = { host, authorization: 'Bearer secret' };
    expect(ask(right)).toMatchObject({ status: 429, fields: { 'Retry-After': '60' } });
    expect(ask(right, '192.0.2.2').status).toBe('in');
    clock.advance(60);
    expect(ask(right).status).toBe('in');
  });

  it('does not lock an operator out because of another client behind the same proxy', () => {
    const clock = createTestClock();
    const ask = guardOf({ ...bearer, clock });
    const right = { host: 'admin.example', authorization: asBasic('secret') };
    const wrong = { host: 'admin.example', authorization: 'Bearer guess' };
    expect(ask(right).status).toBe('in');
    clock.advance(1_800);
    for (let times = 0; times < 30; times++) ask(wrong);
    expect([ask(wrong).status, ask(right).status, ask(wrong).status]).toEqual([429, 'in', 429]);
    clock.advance(3_601);
    for (let times = 0; times < 30; times++) ask(wrong);
    expect(ask(right).status).toBe(429);
  });

  it('counts neither the right token nor a request without one as an attempt', () => {
    const ask = guardOf(bearer);
    for (let times = 0; times < 50; times++) {
      expect(ask({ host: 'a', authorization: 'Bearer secret' }).status).toBe('in');
      expect(ask({ host: 'a' }).status).toBe(401);
    }
    const wrong = Array.from({ length: 20 }, () => ask({ host: 'a', authorization: 'Bearer guess' }).status);
    expect(wrong.at(-1)).toBe(401);
  });

  it('counts a whole IPv6 network as one address', () => {
    const ask = guardOf(bearer);
    const wrong = { host: 'a', authorization: 'Bearer guess' };
    for (let times = 0; times < 20; times++) ask(wrong, `2001:db8:1:2:3:4:5:${times}`);
    expect(ask(wrong, '2001:db8:1:2::9').status).toBe(429);
    expect(ask(wrong, '2001:db8:1:3::9').status).toBe(401);
    expect(ask(wrong, '::ffff:192.0.2.7').status).toBe(401);
  });

  it('sends an HTML page to a browser, and JSON to all other clients', () => {
    const accept = 'text/html,application/xhtml+xml';
    const page = guarded(bearer, { host: 'a', accept, authorization: asBasic('<i>guess') });
    expect(page.fields['Content-Security-Policy']).toContain("default-src 'none'");
    expect(page.body).toContain('The admin token is incorrect.');
    expect(page.body).not.toContain('guess');
    expect(guarded(bearer, { host: 'a' }).body).toEqual({ error: 'The admin token is required.' });
  });

  it('prompts a browser to sign in only if a token is configured', () => {
    const accept = 'text/html';
    expect(guarded(bearer, { host: 'a', accept }).body).toContain('Reload this page to enter them.');
    const none = guarded({ loopback: false, token: undefined }, { host: 'a', accept });
    expect(none.body).toContain('Set PORTICO_ADMIN_TOKEN');
    expect(none.body).not.toContain('Load this page again');
  });

  it('requires a configured token on loopback too', () => {
    expect(guarded({ loopback: true, token: 'secret' }, { host: 'localhost' }).status).toBe(401);
  });

  // When a page on another site sends a request, the browser attaches the operator's cookies and credentials, but also
  // sends the page's origin.
  it.each(['http://evil.example', 'null', 'http://127.0.0.1:9', 'https://evil.example/127.0.0.1:8081'])(
    'denies access to pages of other sites: %s',
    (origin) => {
      const host = '127.0.0.1:8081';
      expect(guarded(local, { host, origin }).status).toBe(403);
      expect(guarded(bearer, { host, origin, authorization: 'Bearer secret' }).status).toBe(403);
    },
  );

  it('admits its own pages', () => {
    expect(guarded(local, { host: 'LocalHost:8081', origin: 'http://localhost:8081' }).status).toBe('in');
  });
});
