import { describe, expect, it } from 'vitest';
import { challengeProbe } from '../../../../src/workbench/doctor/probes/challenge.ts';
import type { FakeHandler } from '../../../builders/fake-upstream.ts';
import { AUTHORIZATION, healthy, LIST, page, runProbe, texts, valueOf, withHeaders } from '../probe-setting.ts';

describe('the challenge probe', () => {
  it('recommends the realm of the server', async () => {
    expect(valueOf(await runProbe(challengeProbe, healthy), 'authentication.realm')).toBe('Real Answers');
  });

  it('recommends to admit anonymous callers if the server does', async () => {
    const open: FakeHandler = (request, response) =>
      request.headers.authorization === undefined ? { json: page(request.query) } : healthy(request, response);
    expect(valueOf(await runProbe(challengeProbe, open), 'authentication.anonymous')).toBe('allow');
  });

  it('reports a 401 without a challenge, and one without Basic', async () => {
    const silent: FakeHandler = async (request, response) => ({ ...(await healthy(request, response)), headers: {} });
    expect(texts(await runProbe(challengeProbe, silent))).toEqual(['low: A 401 has no challenge.']);
    const bearer = await runProbe(challengeProbe, withHeaders({ 'WWW-Authenticate': 'Bearer' }));
    expect(texts(bearer)).toEqual(['high: The server does not offer Basic authentication.']);
  });

  // If the probe's path accepted every credential, the `upstream` verifier would let anyone in under any name.
  it('reports a server that does not tell a made-up credential from a valid one', async () => {
    const result = await runProbe(challengeProbe, ({ query }) => ({ json: page(query) }));
    expect(texts(result).join()).toMatch(/high: A made-up credential cannot be told from a valid one/);
  });

  it('finds another path for the credential probe if the default one is public', async () => {
    const result = await runProbe(challengeProbe, (request, response) =>
      request.path === LIST ? healthy(request, response) : { status: 404, json: { error: 'Not found.' } },
    );
    expect(valueOf(result, 'authentication.probe.path')).toBe(LIST);
    expect(texts(result)).toEqual([]);
  });

  const ignoresCase: FakeHandler = (request, response) => {
    const authorization = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64')
      .toString()
      .replace(/^[^:]*/, (name) => name.toLowerCase());
    const headers = { ...request.headers, authorization: `Basic ${Buffer.from(authorization).toString('base64')}` };
    return healthy(Object.assign({}, request, { headers }), response);
  };

  it('recommends to ignore case in names if the server does', async () => {
    const result = await runProbe(challengeProbe, ignoresCase);
    expect(texts(result)).toEqual(['low: The server ignores case in user names.']);
    expect(valueOf(result, 'roles.names')).toBe('ignoreCase');
    const onList = await runProbe(challengeProbe, (request, response) =>
      request.path === LIST ? ignoresCase(request, response) : { status: 404, json: { error: 'Not found.' } },
    );
    expect(valueOf(onList, 'roles.names')).toBe('ignoreCase');
  });

  it('recommends nothing about names if the server distinguishes case, or anyone may log in', async () => {
    expect(valueOf(await runProbe(challengeProbe, healthy), 'roles.names')).toBeUndefined();
    const open = await runProbe(challengeProbe, ({ query }) => ({ json: page(query) }));
    expect(valueOf(open, 'roles.names')).toBeUndefined();
    const digits = `Basic ${Buffer.from('4711:x').toString('base64')}`;
    const result = await runProbe(challengeProbe, ignoresCase, { authorization: digits });
    expect(valueOf(result, 'roles.names')).toBeUndefined();
  });

  // If the doctor failed to log in under a real name, the server might lock that account.
  it('tries a wrong password only with a made-up name', async () => {
    const names = new Set<string | undefined>();
    const [, password] = Buffer.from(AUTHORIZATION.slice(6), 'base64').toString().split(':');
    await runProbe(challengeProbe, (request, response) => {
      const sent = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64').toString();
      if (!sent.endsWith(`:${password}`)) names.add(request.user);
      return healthy(request, response);
    });
    expect([...names].filter((name) => name !== undefined)).toEqual([
      expect.stringMatching(/^portico-doctor-[\da-f]{12}$/),
    ]);
  });
});
