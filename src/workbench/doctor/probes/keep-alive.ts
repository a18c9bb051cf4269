import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  applicable,
  type DoctorFinding,
  type Probe,
  type ProbeContext,
  type ProbeResult,
  readableList,
} from '../probe.ts';
import { type ProbeResponse, respond } from '../probe-client.ts';
import { headerValues } from '../../../engine/model/header-pairs.ts';

/**
 * The recommended idle timeout, as a fraction of the server's. With this timeout, Portico closes idle connections
 * before the server does.
 */
const SHARE = 0.8;
/** The minimum number of requests that a server should allow per connection. */
const FEW_REQUESTS = 50;

/** Determines whether connections stay open between requests, and how long idle ones stay open. */
export const keepAliveProbe: Probe = {
  name: 'keep-alive',
  does: 'sends two requests on one connection, leaves it idle, and waits until the server closes it',
  requests: () => 3,
  run: async (context) => {
    const { client } = context;
    const { path } = readableList(context).operation;
    const agent = client.keepAlive(1);
    try {
      const first = await respond(client, { path, agent });
      const second = await respond(client, { path, agent });
      if (!second.reused || closes(second)) return withoutKeepAlive(first);
      const idle = await idleTime(second, context);
      const hint = hintedSeconds(second);
      if (idle === undefined) {
        const third = await client.send({ path, agent });
        const alive = third.kind === 'response' && third.reused;
        return withFew(first, alive ? longLived(context.idleMs, hint) : silentlyDropped(context.idleMs));
      }
      return withFew(first, closedAfter(idle, hint));
    } finally {
      agent.destroy();
    }
  },
};

const withFew = (response: ProbeResponse, result: ProbeResult): ProbeResult => ({
  ...result,
  findings: [...(result.findings ?? []), ...fewRequests(response)],
});

const closes = ({ headers }: ProbeResponse): boolean =>
  headerValues(headers, 'connection').some((value) => /\bclose\b/i.test(value));

const hintedSeconds = ({ headers }: ProbeResponse): number | undefined => {
  const [, seconds] = /timeout=(\d{1,6})/i.exec(headerValues(headers, 'keep-alive').join(',')) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
};

/**
 * Returns how long an idle connection stayed open, in milliseconds, or undefined if it was still open when the probe
 * ended.
 */
async function idleTime({ socket }: ProbeResponse, { idleMs, signal }: ProbeContext): Promise<number | undefined> {
  const startedAt = performance.now();
  const ended = new AbortController();
  const limits = AbortSignal.any([signal, ended.signal]);
  const isClosed = socket.destroyed
    ? true
    : await Promise.race([
        once(socket, 'close', { signal: limits }).then(() => true),
        sleep(idleMs, false, { signal: limits }),
      ])
        .catch(() => false)
        .finally(() => ended.abort());
  return isClosed ? performance.now() - startedAt : undefined;
}

function withoutKeepAlive(response: ProbeResponse): ProbeResult {
  const hint = closes(response) ? 'Connection: close' : 'no close hint';
  return {
    facts: [`The server closes the connection after each response (${hint}).`],
    findings: [
      {
        severity: 'medium',
        text: 'The server closes the connection after each response.',
        advice:
          'Each request requires a new connection. Enable keep-alive on the server or on the proxy in front of it.',
      },
    ],
  };
}

const recommended = (ms: number, reason: string) => [
  { key: 'upstream.idleTimeoutMs', value: Math.max(1, Math.floor(ms * SHARE)), reason },
];

/** Returns a finding if the server closes connections after a few requests (`Keep-Alive: max`). */
function fewRequests({ headers }: ProbeResponse): readonly DoctorFinding[] {
  const [, max] = /\bmax=(\d{1,6})/i.exec(headerValues(headers, 'keep-alive').join(',')) ?? [];
  return applicable<DoctorFinding>([
    max !== undefined &&
      Number(max) < FEW_REQUESTS && {
        severity: 'low',
        text: `The server closes a connection after about ${max} more requests (Keep-Alive: max).`,
        advice: 'Connections have to be opened often. Raise the limit to a thousand or more.',
      },
  ]);
}

const hintWords = (hint: number | undefined) => (hint === undefined ? 'no Keep-Alive hint' : `hint: ${hint} s`);

function longLived(idleMs: number, hint: number | undefined): ProbeResult {
  const announced = hint === undefined ? idleMs : Math.min(idleMs, hint * 1000);
  return {
    facts: [`An idle connection was still usable after ${idleMs} ms (${hintWords(hint)}).`],
    recommendations: recommended(
      announced,
      `Idle connections live for at least ${announced} ms; Portico closes them first.`,
    ),
  };
}

function closedAfter(measured: number, hint: number | undefined): ProbeResult {
  const ms = Math.round(measured);
  const lived = Math.min(ms, hint === undefined ? ms : hint * 1000);
  return {
    facts: [`The server closed an idle connection after ${ms} ms (${hintWords(hint)}).`],
    findings: applicable<DoctorFinding>([
      lived < 2000 && {
        severity: 'medium',
        text: `Idle connections are closed after ${ms} ms.`,
        advice: 'Few connections can be reused. Raise the idle timeout of the server to 20 seconds or more.',
      },
      hint !== undefined &&
        ms < hint * 1000 * 0.9 && {
          severity: 'medium',
          text: `Keep-Alive promises ${hint} s, but the connection was closed after ${ms} ms.`,
          advice:
            'A proxy in between probably closes it. The timeout of the proxy must be longer than that of the server.',
        },
    ]),
    recommendations: recommended(
      lived,
      `The server closes idle connections after ${lived} ms; Portico closes them first.`,
    ),
  };
}

function silentlyDropped(idleMs: number): ProbeResult {
  return {
    facts: [`After ${idleMs} ms, an idle connection no longer worked, although nobody had closed it.`],
    findings: [
      {
        severity: 'high',
        text: 'Idle connections stop working without being closed.',
        advice: 'A firewall probably drops them. Keep upstream.idleTimeoutMs low, or requests on them will fail.',
      },
    ],
    recommendations: [
      { key: 'upstream.idleTimeoutMs', value: 1000, reason: 'Idle connections stop working without being closed.' },
    ],
  };
}
