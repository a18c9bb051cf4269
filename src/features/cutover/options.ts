import { type Static, Type } from 'typebox';
import type { ConfigProblem, Settings } from '../../engine/config/settings.ts';
import type { Operation } from '../../engine/model/operation.ts';
import {
  UPSTREAM_DEFAULTS,
  type UpstreamOptions,
  upstreamOptionsSchema,
} from '../../engine/upstream/upstream-options.ts';
import { parseUpstreamUrl, type UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import { closestName } from '../../lib/closest-name.ts';
import { readSecretFile } from '../../lib/secret-file.ts';

const closed = { additionalProperties: false, default: {} } as const;

/** An option of the new server that means what the option of the same name means for the upstream. */
const limit = <Key extends keyof typeof upstreamOptionsSchema.properties & keyof UpstreamOptions>(key: Key) =>
  Type.Unsafe<UpstreamOptions[Key]>({ ...upstreamOptionsSchema.properties[key], default: UPSTREAM_DEFAULTS[key] });

const percent = (description: string, value?: number) =>
  Type.Number({ minimum: 0, maximum: 100, description, ...(value !== undefined && { default: value }) });

const ratio = (value: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: value, description });

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 1000,
    uniqueItems: true,
    default: [],
    description,
  });

/** The name that stands for undocumented paths, and the one that stands for all operations. */
export const UNDOCUMENTED = 'undocumented';
export const EVERY = '*';

/** The options under the `cutover` configuration key. */
export const options = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      description: 'Base address of the new server, `http` or `https`, with an optional path prefix.',
    }),
    upstream: Type.Object(
      {
        alternates: limit('alternates'),
        ejection: limit('ejection'),
        probe: limit('probe'),
        sessionCookies: limit('sessionCookies'),
        connectTimeoutMs: limit('connectTimeoutMs'),
        headersTimeoutMs: limit('headersTimeoutMs'),
        bodyTimeoutMs: limit('bodyTimeoutMs'),
        totalTimeoutMs: limit('totalTimeoutMs'),
        clientTimeoutMs: limit('clientTimeoutMs'),
        concurrency: limit('concurrency'),
        streams: limit('streams'),
        queue: limit('queue'),
        queueTimeoutMs: limit('queueTimeoutMs'),
        retryBudget: limit('retryBudget'),
        idleTimeoutMs: limit('idleTimeoutMs'),
        maxResponseBytes: limit('maxResponseBytes'),
        maxResponseHeaderBytes: limit('maxResponseHeaderBytes'),
        circuit: limit('circuit'),
        legacyOrigins: limit('legacyOrigins'),
      },
      {
        ...closed,
        description:
          'The limits for requests to the new server. Each key means what it means in `upstream`, and none is taken from there. The keys that are only there, such as `responseHeaders`, apply to both servers.',
      },
    ),
    username: Type.Optional(
      Type.String({
        minLength: 1,
        pattern: '^[^:]+$',
        description:
          'Name of the service account on the new server. Required if `upstream.credentials` is a service account.',
      }),
    ),
    passwordFile: Type.Optional(
      Type.String({ minLength: 1, description: 'File whose first line is the password of this account.' }),
    ),
    file: Type.String({
      minLength: 1,
      default: '.portico/cutover.json',
      description:
        'File of the decisions that were made while Portico runs, relative to the working directory, or `:memory:`.',
    }),
    seed: Type.String({
      maxLength: 64,
      default: '',
      description: 'Any text. Another text orders callers differently.',
    }),
    operations: Type.Record(
      Type.String({ pattern: '^(?:\\*|[A-Za-z][A-Za-z0-9_.-]{0,99})$' }),
      Type.Object(
        {
          share: percent(
            'Percentage of the callers whom the new server serves, until `portico cutover set` decides otherwise.',
            0,
          ),
          writes: Type.Boolean({
            default: false,
            description: 'Whether a writing operation takes part. Required for it, and not possible for `*`.',
          }),
        },
        { additionalProperties: false },
      ),
      {
        default: {},
        description:
          'The operations that take part, by id. `*` stands for all operations that read, and `undocumented` for undocumented paths.',
      },
    ),
    allow: names('Names of callers whom the new server serves whatever the share, such as testers.'),
    deny: names('Names of callers whom the old server serves whatever the share.'),
    steps: Type.Array(
      Type.Object(
        {
          share: percent('The share of `*` that the step leads to.'),
          afterSeconds: Type.Integer({
            minimum: 1,
            maximum: 2_592_000,
            description: 'How long the share before must have been in force.',
          }),
          minimum: Type.Integer({
            minimum: 1,
            maximum: 10_000_000,
            default: 1000,
            description: 'Number of exchanges of this gateway that the new server must have served in this time.',
          }),
          callersNotice: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description:
                'The step is taken only while the mirror shows, for each operation that the step concerns, that at most this share (0 to 1) of the callers would notice. Without a mirror, it is not taken.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: 20,
        default: [],
        description: 'A rule that raises the share of `*` step by step, while no limit of `return` is exceeded.',
      },
    ),
    return: Type.Object(
      {
        action: Type.Enum(['return', 'freeze', 'off'], {
          default: 'return',
          description:
            'What happens when a limit is exceeded: the old server serves everybody, the shares stay but cannot be raised, or nothing.',
        }),
        windowSeconds: Type.Integer({
          minimum: 1,
          maximum: 3600,
          default: 60,
          description: 'The period that counts.',
        }),
        minimum: Type.Integer({
          minimum: 5,
          maximum: 2000,
          default: 50,
          description: 'Minimum number of exchanges with the new server, of one operation or of all, that are judged.',
        }),
        errors: ratio(
          0.05,
          'Maximum share (0 to 1) of exchanges that fail: no response, or a status of 500 or more. It counts only if it is higher than that of the old server.',
        ),
        violations: ratio(
          0.05,
          'Maximum share of responses that violate the contract, unless the baseline accepts it. It counts only if it is higher than that of the old server.',
        ),
        refusals: ratio(
          0.2,
          'By how much the share of refused requests (401 to 499, or a credential that the server does not know) may exceed that of the old server.',
        ),
        differences: Type.Integer({
          minimum: 0,
          maximum: 100_000,
          default: 0,
          description:
            'Number of differences that the mirror finds in the period which is too many; 0: they do not count.',
        }),
        latency: Type.Object(
          {
            measure: Type.Enum(['p95', 'p99', 'mean'], { default: 'p95', description: 'What is compared.' }),
            factor: Type.Number({
              minimum: 0,
              maximum: 1000,
              default: 3,
              description: 'How many times that of the old server, for the same operation; 0: latency does not count.',
            }),
            floorMs: Type.Integer({
              minimum: 0,
              maximum: 600_000,
              default: 250,
              description: 'A latency up to this never counts.',
            }),
          },
          { ...closed, description: 'How slow the new server may be.' },
        ),
        coolDownSeconds: Type.Integer({
          minimum: 0,
          maximum: 604_800,
          default: 600,
          description: 'How long after the latest exceeded limit the rule of `steps` waits.',
        }),
      },
      { ...closed, description: 'When the cut-over returns by itself; see docs/cutover.md#automatic-return.' },
    ),
    sideHeader: Type.Boolean({
      default: false,
      description: 'Whether responses name the server in `X-Portico-Side` (`old` or `new`).',
    }),
  },
  {
    additionalProperties: false,
    description:
      'Moves callers to a new server step by step, and back at once if it fails; see docs/cutover.md. Has no effect in `observe` mode.',
  },
);

/** The options of the cut-over, with all defaults filled in. `file` and `passwordFile` are absolute. */
export type CutoverOptions = Static<typeof options>;

/** The limits that lead to a return. */
export type ReturnOptions = CutoverOptions['return'];

/** Returns the options of the new server's upstream, of which some are those of the old one. */
export function upstreamOptionsOf(
  { upstream, url, username, passwordFile }: CutoverOptions,
  { credentials, responseHeaders, maxJsonDepth, maxJsonValues }: UpstreamOptions,
) {
  const defaults = UPSTREAM_DEFAULTS;
  return {
    ...defaults,
    // What clients get, and how much of a response is checked, does not depend on the server.
    responseHeaders,
    maxJsonDepth,
    maxJsonValues,
    ...upstream,
    url,
    ejection: { ...defaults.ejection, ...upstream.ejection },
    probe: { ...defaults.probe, ...upstream.probe },
    streams: { ...defaults.streams, ...upstream.streams },
    retryBudget: { ...defaults.retryBudget, ...upstream.retryBudget },
    circuit: { ...defaults.circuit, ...upstream.circuit },
    credentials:
      credentials.kind === 'service' && username !== undefined
        ? ({ kind: 'service', username, ...(passwordFile !== undefined && { passwordFile }) } as const)
        : ({ kind: 'forward' } as const),
  } satisfies UpstreamOptions;
}

const urlOf = ({ origin, basePath }: UpstreamAddress) => origin + basePath;

/** Returns the errors in combinations of options. */
export function cutoverProblems(given: CutoverOptions, { upstream }: Pick<Settings, 'upstream'>): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const problem = (option: string, message: string, suggestion?: string) =>
    void problems.push({ pointer: `/cutover/${option}`, message, ...(suggestion !== undefined && { suggestion }) });
  const parsed = parseUpstreamUrl(given.url, { source: '', pointer: '' });
  if ('faults' in parsed) for (const { message, suggestion } of parsed.faults) problem('url', message, suggestion);
  const old = upstream.url === undefined ? undefined : parseUpstreamUrl(upstream.url, { source: '', pointer: '' });
  if ('address' in parsed && old !== undefined && 'address' in old && urlOf(old.address) === urlOf(parsed.address))
    problem('url', 'is the address of the upstream itself', 'name the new server, or remove cutover');
  given.upstream.alternates.forEach((text, index) => {
    const one = parseUpstreamUrl(text, { source: '', pointer: '' });
    const at = `upstream/alternates/${index}`;
    if ('faults' in one) for (const { message, suggestion } of one.faults) problem(at, message, suggestion);
    else if ('address' in parsed && one.address.basePath !== parsed.address.basePath)
      problem(at, 'must have the path prefix of cutover.url');
  });
  if (upstream.credentials.kind === 'service') {
    if (given.username === undefined)
      problem('username', 'is required, because upstream.credentials is a service account');
    if (given.passwordFile === undefined)
      problem('passwordFile', 'is required, because upstream.credentials is a service account');
    else {
      const reading = readSecretFile(given.passwordFile);
      if ('fault' in reading) problem('passwordFile', reading.fault);
    }
  }
  if (given.operations[EVERY]?.writes === true)
    problem('operations/*/writes', 'is not possible for *', 'name each operation that writes');
  const denied = new Set(given.deny);
  given.allow.forEach((name, index) => {
    if (denied.has(name)) problem(`allow/${index}`, 'is also in cutover.deny');
  });
  given.steps.forEach(({ share }, index) => {
    if (index > 0 && share <= (given.steps[index - 1]?.share ?? 0))
      problem(`steps/${index}/share`, 'must be higher than that of the step before');
  });
  if (given.steps.length > 0 && given.operations[EVERY] === undefined)
    problem('steps', 'need cutover.operations.*, whose share they raise');
  return problems;
}

/** Returns the errors in the names of operations. */
export function operationProblems(
  given: CutoverOptions,
  operations: readonly Pick<Operation, 'id' | 'method'>[],
): ConfigProblem[] {
  const known = operations.map(({ id }) => id);
  return Object.entries(given.operations).flatMap(([id, { writes }]): ConfigProblem[] => {
    if (id === EVERY || id === UNDOCUMENTED) return [];
    const operation = operations.find((one) => one.id === id);
    const pointer = `/cutover/operations/${id}`;
    if (operation === undefined) {
      const close = closestName(id, known);
      const suggestion =
        close === undefined ? 'inferred operations need contract.inferred: on' : `did you mean ${close}?`;
      return [{ pointer, message: 'is not an operation of the contract', suggestion }];
    }
    if (operation.method === 'GET' || writes) return [];
    return [{ pointer, message: 'writes, and takes part only with writes: true' }];
  });
}
