import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { failureHint, statusHint } from '../model/failure-hints.ts';
import { type HeaderPairs, headerValue } from '../model/header-pairs.ts';
import type { Operation } from '../model/operation.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { errorShape } from './failures/normalize-failure.ts';
import type { UpstreamResponse } from './response-body.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import type { Profile } from '../contract/api-profile.ts';
import type { Upstreams } from './upstreams.ts';

interface ProbeSettings {
  readonly embedded: boolean;
  readonly profile: Pick<Profile, 'basePath' | 'serverErrors'>;
  readonly upstream: Pick<UpstreamOptions, 'startupProbe'>;
}

/** The test of the upstream's address. It neither delays startup nor causes it to fail. */
export interface StartupProbe {
  send(): void;
  cancel(): void;
}

/**
 * Creates the probe, which sends one request to the upstream and logs the result, with a hint if the address seems to be
 * wrong. No request is sent if the upstream is the reference server or `startupProbe` is off.
 */
export function createStartupProbe(
  { embedded, profile, upstream: { startupProbe } }: ProbeSettings,
  { upstreams, logger }: { readonly upstreams: Pick<Upstreams, 'current'>; readonly logger: Logger },
  operations: readonly Operation[],
  authorization: string | undefined,
): StartupProbe {
  const target = probedPath(operations);
  if (embedded || !startupProbe || target === undefined) return { send: () => undefined, cancel: () => undefined };
  const cancelled = new AbortController();
  const headers: HeaderPairs = [
    ['Accept', 'application/json'],
    ['Accept-Encoding', 'identity'],
    ['User-Agent', 'portico-startup-probe'],
    ['X-Request-Id', randomUUID()],
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
  ];
  const probe = { method: 'GET', target, headers, mode: 'buffered', signal: cancelled.signal } as const;
  const send = async () => {
    try {
      const response = await upstreams.current.exchange(probe);
      const fields = { probe: target, status: response.status };
      const problem = problemOf(response, profile);
      if (problem === undefined) logger.info(fields, 'the upstream responds to the startup probe');
      else logger.warn(fields, `the upstream responds to the startup probe, but ${problem}`);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.facts === undefined) return;
      logger.warn({ probe: target, ...error.facts }, `the startup probe failed: ${failureHint(error.facts)}`);
    }
  };
  return { send: () => void send(), cancel: () => cancelled.abort() };
}

/** Returns the path of the first GET operation without path parameters. */
function probedPath(operations: readonly Operation[]): string | undefined {
  return operations.find(
    ({ method, parameters }) => method === 'GET' && parameters.every(({ location }) => location !== 'path'),
  )?.path;
}

function problemOf(
  response: UpstreamResponse,
  { basePath, serverErrors }: ProbeSettings['profile'],
): string | undefined {
  const { status, headers } = response;
  if (status >= 500) return 'it reports a server error';
  if (status >= 400 || status < 200 || status >= 300) return statusHint(status, basePath);
  const isHtml =
    /^\s*(?:text\/html|application\/xhtml)/i.test(headerValue(headers, 'content-type') ?? '') ||
    errorShape(response, serverErrors) === 'html';
  return isHtml ? 'it returns a page for browsers; the URL leads to a website or a login page' : undefined;
}
