import type { NextFunction, Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { type AdminGuardOptions, createAdminGuard } from '../../src/http/admin-guard.ts';

/** The status that a request is refused with, or `in`. */
function guarded(
  options: AdminGuardOptions,
  headers: Readonly<Record<string, string>>,
): { status: unknown; challenge?: string } {
  const seen: { status: unknown; challenge?: string } = { status: 'nothing' };
  const response = {
    status: (status: number) => {
      seen.status = status;
      return response;
    },
    set: (name: string, value: string) => {
      seen.challenge = `${name}: ${value}`;
      return response;
    },
    json: () => response,
  };
  const next: NextFunction = () => {
    seen.status = 'in';
  };
  createAdminGuard(options)({ headers } as unknown as Request, response as unknown as Response, next);
  return seen;
}

const local: AdminGuardOptions = { loopback: true, token: undefined };
const remote: AdminGuardOptions = { loopback: false, token: undefined };
const bearer: AdminGuardOptions = { loopback: false, token: 'secret' };

describe('the guard of the admin side', () => {
  it.each(['127.0.0.1:8081', 'localhost', 'LOCALHOST:1', '[::1]:8081', '127.1.2.3'])(
    'lets callers in on loopback under a loopback name: %s',
    (host) => {
      expect(guarded(local, { host }).status).toBe('in');
    },
  );

  // A page of a foreign site can have its own name lead to 127.0.0.1.
  it.each(['evil.example:8081', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil127.0.0.1', ''])(
    'lets nobody in under another name: %s',
    (host) => {
      expect(guarded(local, { host }).status).toBe(403);
    },
  );

  it('lets nobody in beyond loopback without a token', () => {
    expect(guarded(remote, { host: '127.0.0.1' }).status).toBe(403);
  });

  it('lets in who has the token, and challenges everybody else', () => {
    expect(guarded(bearer, { host: 'admin.example', authorization: 'Bearer secret' }).status).toBe('in');
    for (const authorization of ['', 'Bearer', 'Bearer secret2', 'Bearer secre', 'bearer secret', 'Basic secret'])
      expect(guarded(bearer, { host: 'admin.example', authorization })).toEqual({
        status: 401,
        challenge: 'WWW-Authenticate: Bearer realm="Portico admin"',
      });
  });

  it('wants the token on loopback too, once there is one', () => {
    expect(guarded({ loopback: true, token: 'secret' }, { host: 'localhost' }).status).toBe(401);
  });

  // A browser sends the operator's address book of cookies and names, but tells whose page is asking.
  it.each(['http://evil.example', 'null', 'http://127.0.0.1:9', 'https://evil.example/127.0.0.1:8081'])(
    'lets no page of another site in: %s',
    (origin) => {
      const host = '127.0.0.1:8081';
      expect(guarded(local, { host, origin }).status).toBe(403);
      expect(guarded(bearer, { host, origin, authorization: 'Bearer secret' }).status).toBe(403);
    },
  );

  it('lets its own pages in', () => {
    expect(guarded(local, { host: 'LocalHost:8081', origin: 'http://localhost:8081' }).status).toBe('in');
  });
});
