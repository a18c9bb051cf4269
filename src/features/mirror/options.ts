import { type Static, Type } from 'typebox';
import { parseUpstreamUrl } from '../../engine/upstream/upstream-url.ts';
import type { ConfigProblem, Settings } from '../../engine/config/settings.ts';
import { zoneClock } from '../../comparison/dates.ts';
import { closestName } from '../../lib/closest-name.ts';
import { readSecretFile } from '../../lib/secret-file.ts';

const closed = { additionalProperties: false, default: {} } as const;
const MIB = 1024 * 1024;
const ms = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 60_000, default: value, description });
const zone = (whose: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_/+:-]{1,64}$',
    default: 'UTC',
    description: `Time zone of dates without a zone in responses of ${whose}, such as Europe/Berlin.`,
  });

/** The options under the `mirror` configuration key. All paths are absolute. */
export const options = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      description: 'Base address of the second server, `http` or `https`, with an optional path prefix.',
    }),
    label: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$',
      default: 'candidate',
      description: 'Name of the second server, such as its version. With another label, all counts begin again.',
    }),
    share: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description:
        'Fraction (0 to 1) of the callers whose requests are mirrored. A caller is always in it or never; see docs/mirror.md#whose-requests.',
    }),
    seed: Type.String({
      maxLength: 64,
      default: '',
      description: 'Any text. Another text chooses other callers.',
    }),
    floor: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 0,
      description:
        'Number of comparisons per operation and hour for which callers outside of `share` are mirrored, too, so that rare operations are compared.',
    }),
    budget: Type.Object(
      {
        requestsPerSecond: Type.Number({
          minimum: 0.01,
          maximum: 10_000,
          default: 5,
          description: 'Maximum number of requests per second to the second server.',
        }),
        bytesPerSecond: Type.Integer({
          minimum: 1024,
          maximum: 1_073_741_824,
          default: MIB,
          description: 'Maximum number of bytes per second that the second server may send.',
        }),
      },
      { ...closed, description: 'What the mirror may use. Operations that were compared least come first.' },
    ),
    host: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9.-]{1,253}(?::\\d{1,5})?$',
        description:
          'The `Host` of requests, and the name in the certificate, if the second server has another name than in `url`.',
      }),
    ),
    credentials: Type.Enum(['none', 'service', 'forward', 'map'], {
      default: 'none',
      description:
        "The credential for the second server: none, that of a service account, the caller's, or that of the account that stands for the caller. Requests that the legacy server received from somebody else are not mirrored; see docs/mirror.md#credentials.",
    }),
    accountsFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'File that says which account on the second server stands for which caller (credentials: map); see docs/mirror.md#credentials.',
      }),
    ),
    forwardTo: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The host of `url`. It must be repeated here with `credentials: forward`.',
      }),
    ),
    username: Type.Optional(
      Type.String({ minLength: 1, pattern: '^[^:]+$', description: 'Name of the service account.' }),
    ),
    passwordFile: Type.Optional(
      Type.String({ minLength: 1, description: 'File whose first line is the password of the service account.' }),
    ),
    impersonal: Type.Array(Type.String(), {
      maxItems: 100,
      default: [],
      description:
        'Ids of operations whose responses do not depend on the caller. They are mirrored whoever has sent the request.',
    }),
    prefix: Type.Optional(
      Type.Object(
        {
          from: Type.String({
            pattern: '^(?:/[A-Za-z0-9._~-]+)+$',
            description: 'Beginning of the path, such as `/services/v2`.',
          }),
          to: Type.String({ pattern: '^(?:/[A-Za-z0-9._~-]+)*$', description: 'What replaces it; may be empty.' }),
        },
        {
          additionalProperties: false,
          description: 'A beginning of the path that is another one on the second server.',
        },
      ),
    ),
    headers: Type.Array(
      Type.Object(
        {
          name: Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$", description: 'Name of the header.' }),
          value: Type.String({ pattern: '^[!-~](?:[ -~]{0,998}[!-~])?$', description: 'Value of the header.' }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 20, default: [], description: 'Further request headers for the second server.' },
    ),
    addresses: Type.Array(Type.String({ pattern: '^https?://[^\\s?#]{1,500}$' }), {
      maxItems: 20,
      default: [],
      description: 'Further addresses under which the second server knows itself.',
    }),
    zone: zone('the second server'),
    upstreamZone: zone('the legacy server'),
    file: Type.String({
      minLength: 1,
      default: '.portico/mirror.json',
      description: 'File of the counts, relative to the working directory, or `:memory:`.',
    }),
    idsFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'File of id pairs (kind,old,new), as `portico compare --save-ids` writes it. Default: ids are equal.',
      }),
    ),
    noiseFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'File of rules for values that change by themselves, as for `portico compare --noise`.',
      }),
    ),
    timeouts: Type.Object(
      {
        connectMs: ms(1000, 'For opening a connection.'),
        headersMs: ms(5000, 'For the head of a response.'),
        totalMs: ms(10_000, 'For a complete exchange.'),
      },
      { ...closed, description: 'Timeouts for the second server.' },
    ),
    maxResponseBytes: Type.Integer({
      minimum: 1024,
      maximum: 16 * MIB,
      default: MIB,
      description: 'Maximum size of a response of either server. Larger ones are not comparable.',
    }),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 32,
      default: 4,
      description: 'Maximum number of mirrored requests at the same time.',
    }),
    queue: Type.Object(
      {
        exchanges: Type.Integer({
          minimum: 1,
          maximum: 10_000,
          default: 200,
          description: 'Maximum number of exchanges that wait.',
        }),
        bytes: Type.Integer({
          minimum: 1024,
          maximum: 256 * MIB,
          default: 16 * MIB,
          description: 'Maximum size of their responses together.',
        }),
        seconds: Type.Integer({
          minimum: 1,
          maximum: 3600,
          default: 10,
          description: 'Longest wait. A later comparison would only show what has changed in the meantime.',
        }),
      },
      {
        ...closed,
        description:
          'The exchanges that wait for the budget. Beyond a limit, those of frequent operations are dropped.',
      },
    ),
    askAgainMs: Type.Integer({
      minimum: 0,
      maximum: 60_000,
      default: 500,
      description: 'Wait before both servers are asked again about a difference.',
    }),
    circuit: Type.Object(
      {
        failures: Type.Integer({
          minimum: 1,
          maximum: 1000,
          default: 10,
          description:
            'Number of consecutive failures of the second server after which nothing is mirrored for a while.',
        }),
        openSeconds: Type.Integer({ minimum: 1, maximum: 3600, default: 30, description: 'Length of the pause.' }),
      },
      { ...closed, description: 'When the mirror pauses because the second server fails.' },
    ),
  },
  {
    additionalProperties: false,
    description:
      'Mirrors a part of the GET requests to a second server, once clients have their responses, and reports how its responses differ; see docs/mirror.md.',
  },
);

/** The options of the mirror. */
export type MirrorOptions = Static<typeof options>;

/** The headers that the mirror sets itself, or that belong to a connection or to a client. */
const RESERVED: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'content-type',
  'accept-encoding',
]);

/** Returns the errors in combinations of options. */
export function mirrorProblems(given: MirrorOptions, settings: Pick<Settings, 'upstream'>): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const problem = (option: string, message: string, suggestion?: string) =>
    void problems.push({ pointer: `/mirror/${option}`, message, ...(suggestion !== undefined && { suggestion }) });
  const parsed = parseUpstreamUrl(given.url, { source: '', pointer: '' });
  if ('faults' in parsed) for (const { message, suggestion } of parsed.faults) problem('url', message, suggestion);
  else {
    const { host } = new URL(given.url);
    if (given.credentials === 'forward' && given.forwardTo !== host)
      problem('forwardTo', 'must be the host of mirror.url, because callers’ passwords are sent there', host);
    const old =
      settings.upstream.url === undefined
        ? undefined
        : parseUpstreamUrl(settings.upstream.url, { source: '', pointer: '' });
    if (old !== undefined && 'address' in old && urlOf(old.address) === urlOf(parsed.address))
      problem('url', 'is the address of the upstream itself', 'name the second server');
  }
  if (given.credentials === 'service') {
    if (given.username === undefined) problem('username', 'is required with credentials: service');
    if (given.passwordFile === undefined) problem('passwordFile', 'is required with credentials: service');
    else {
      const reading = readSecretFile(given.passwordFile);
      if ('fault' in reading) problem('passwordFile', reading.fault);
    }
  }
  if (given.credentials === 'map' && given.accountsFile === undefined)
    problem('accountsFile', 'is required with credentials: map');
  given.headers.forEach(({ name }, index) => {
    if (RESERVED.has(name.toLowerCase())) {
      const suggestion = name.toLowerCase() === 'host' ? 'set mirror.host' : undefined;
      problem(`headers/${index}/name`, 'is a header that cannot be set here', suggestion);
    }
  });
  for (const name of ['zone', 'upstreamZone'] as const)
    try {
      zoneClock(given[name]);
    } catch {
      problem(name, 'must be a time zone', 'UTC, Europe/Berlin or +01:00');
    }
  return problems;
}

const urlOf = ({ origin, basePath }: { readonly origin: string; readonly basePath: string }) => origin + basePath;

/** Returns an error for each operation in `impersonal` that is not a GET operation of the contract. */
export function impersonalProblems(
  { impersonal }: MirrorOptions,
  operations: readonly { readonly id: string; readonly method: string }[],
): readonly ConfigProblem[] {
  const known = operations.flatMap(({ id, method }) => (method === 'GET' ? [id] : []));
  return impersonal.flatMap((id, index) => {
    if (known.includes(id)) return [];
    const suggestion = closestName(id, known);
    return [
      {
        pointer: `/mirror/impersonal/${index}`,
        message: 'is not a GET operation of the contract',
        ...(suggestion !== undefined && { suggestion }),
      },
    ];
  });
}
