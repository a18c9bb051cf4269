import { type AdminClient, type CommandTools, refusalFailure, warnIfUnstored } from '../../engine/feature-command.ts';
import { type ActionFlags, checkAction } from '../../lib/action-flags.ts';
import { type Command, CommandFailure, type CommandIo, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import { choiceFlag, parsePeriod, parseSince } from '../../lib/flag-values.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import { textTable } from '../../lib/text-table.ts';
import { resolve } from 'node:path';
import type { ShownToken } from './tokens-routes.ts';

const FORMATS = ['table', 'json'];

/** The actions, each with its flags besides those of all commands. */
const OWN_FLAGS: ActionFlags = {
  create: ['for', 'scope', 'expires', 'operations', 'networks', 'note', 'format'],
  list: ['all', 'format'],
  revoke: [],
  rotate: ['overlap', 'expires', 'format'],
  enroll: ['password-file'],
  unenroll: [],
};

/** The `portico token` command creates, lists, replaces and revokes the tokens of a running gateway. */
export const tokenCommand = (tools: CommandTools): Command => ({
  name: 'token',
  summary: 'Create, list, replace and revoke tokens that clients send instead of a password',
  args: 'create | list | revoke ID | rotate ID | enroll ID | unenroll ID',
  argCount: [1, 2],
  argChoices: Object.keys(OWN_FLAGS),
  flags: [
    { name: 'for', value: 'NAME', help: 'create: the account for which the token stands.' },
    {
      name: 'scope',
      value: 'NAME',
      multiple: true,
      help: 'create: a permission, group or flag of the account that the token keeps; repeat it for more.',
    },
    {
      name: 'expires',
      value: 'TIME',
      help: 'create, rotate: after how long the token ends, such as 12h or 90d, or on which day, such as 2027-01-31. rotate: as long as before by default.',
    },
    {
      name: 'operations',
      value: 'IDS',
      multiple: true,
      help: 'create: the only operations that accept the token, separated by commas.',
    },
    {
      name: 'networks',
      value: 'CIDRS',
      multiple: true,
      help: 'create: the only networks from which the token is accepted, separated by commas.',
    },
    { name: 'note', value: 'TEXT', help: 'create: what the token is for.' },
    {
      name: 'overlap',
      value: 'TIME',
      help: 'rotate: how long the old token stays valid, for example 2h; 24h by default, 0 to end it at once.',
    },
    {
      name: 'password-file',
      value: 'FILE',
      help: 'enroll: a file whose first line is the password of the account; otherwise PORTICO_PASSWORD.',
    },
    { name: 'all', help: 'list: also show tokens that have ended.' },
    { name: 'format', value: 'FORMAT', choices: FORMATS, help: 'create, list, rotate: table or json.' },
    ...tools.adminFlags,
  ],
  notes: [
    'A new token is written to standard output, once. The gateway stores only a keyed hash of it.',
    'enroll stores the password of the account, encrypted, for operations that need it, once the upstream has accepted it. The holder of the token can do this, too; see docs/tokens.md.',
    ...tools.adminNotes,
    'Example: portico token create --for alice --scope "View the questions list" --expires 90d --note "chat bot"',
    'Example: portico token rotate 0123456789abcdef --overlap 2h',
  ],
  run: async (line, io) => {
    const [action = '', ...args] = line.args;
    checkAction('token', action, OWN_FLAGS, line);
    const format = choiceFlag(line, 'format', FORMATS) ?? 'table';
    const [id] = args;
    if (action === 'create' || action === 'list') {
      if (id !== undefined) throw new UsageError(`token ${action}: unexpected argument "${shownArgument(id)}"`);
    } else if (id === undefined) throw new UsageError(`token ${action} requires the ID of a token`);
    const request = requestOf(action, id, line, io);
    const body = await send(tools.admin(line, io), request);
    if (action === 'list') return list(body, format, line, io);
    if (format === 'json')
      io.out(jsonDocument('token', { token: body.token, created: body.created, replaced: body.replaced }));
    else tell(body, io);
    warnIfUnstored(body, io);
    return EXIT.ok;
  },
});

/** What the admin side returns. */
interface TokensBody {
  readonly tokens?: readonly ShownToken[];
  readonly token?: string;
  readonly created?: ShownToken;
  readonly replaced?: ShownToken;
  readonly revoked?: ShownToken;
  readonly changed?: ShownToken;
  readonly stored?: boolean;
}

interface AdminRequest {
  readonly path: string;
  readonly body?: object;
}

/** Builds the request. The gateway checks the values. */
function requestOf(action: string, id: string | undefined, line: CommandLine, io: CommandIo): AdminRequest {
  if (action === 'list') return { path: '/tokens' };
  if (action === 'create') return { path: '/tokens', body: newToken(line, Date.now()) };
  if (action === 'enroll') return { path: '/tokens/enroll', body: { id, password: passwordFrom(line, io) } };
  if (action !== 'rotate') return { path: `/tokens/${action}`, body: { id } };
  const expires = line.last('expires');
  const overlap = line.last('overlap');
  return {
    path: '/tokens/rotate',
    body: {
      id,
      ...(overlap !== undefined && { overlapHours: overlap === '0' ? 0 : periodOf(line, 'overlap') / HOUR_MS }),
      ...(expires !== undefined && { expiresDays: daysOf(line, Date.now()) }),
    },
  };
}

function newToken(line: CommandLine, now: number): object {
  for (const flag of ['for', 'scope', 'expires'])
    if (line.last(flag) === undefined) throw new UsageError(`token create requires --${flag}`);
  const listOf = (flag: string) => {
    const items = line.all(flag).flatMap((text) => text.split(',').map((item) => item.trim()));
    return items.length === 0 ? {} : { [flag]: items };
  };
  return {
    for: line.last('for'),
    scope: line.all('scope'),
    expiresDays: daysOf(line, now),
    ...listOf('operations'),
    ...listOf('networks'),
    note: line.last('note'),
  };
}

/** Returns after how many days a token ends, which the flag states as a period or as a day. */
function daysOf(line: CommandLine, now: number): number {
  const text = line.last('expires') ?? '';
  const day = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseSince(text, now) : undefined;
  const period = day === undefined ? parsePeriod(text) : day - now;
  if (period !== undefined && period > 0) return period / DAY_MS;
  const reason = day === undefined ? 'must be a time such as 12h or 90d, or a day such as 2027-01-31' : 'has passed';
  throw new UsageError(`--expires ${text}: ${reason}`);
}

function periodOf(line: CommandLine, flag: string): number {
  const text = line.last(flag) ?? '';
  const period = parsePeriod(text);
  if (period === undefined) throw new UsageError(`--${flag} ${text}: must be a time such as 12h or 90d`);
  return period;
}

function passwordFrom(line: CommandLine, { env, cwd }: CommandIo): string {
  const file = line.last('password-file');
  if (file !== undefined) {
    const secret = readSecretFile(resolve(cwd, file));
    if ('fault' in secret) throw new CommandFailure(secret.fault);
    return secret.text;
  }
  const password = env['PORTICO_PASSWORD'];
  if (password === undefined || password === '')
    throw new UsageError('token enroll requires the password in --password-file or PORTICO_PASSWORD');
  return password;
}

async function send(admin: AdminClient, { path, body: request }: AdminRequest): Promise<TokensBody> {
  const response = await admin.send(request === undefined ? 'GET' : 'POST', path, request);
  if (response.status === 200) return response.body as TokensBody;
  if (response.status === 404 && membersOf(response.body)['field'] === undefined)
    throw new CommandFailure(`${admin.url} has no tokens: set tokens.keyFile in the gateway's configuration`);
  throw refusalFailure(response, FLAG_OF);
}

/** The flags whose values are checked by the gateway, by the fields of its requests. */
const FLAG_OF = {
  for: '--for',
  scope: '--scope',
  expiresDays: '--expires',
  overlapHours: '--overlap',
  operations: '--operations',
  networks: '--networks',
  note: '--note',
} as const;

function list({ tokens = [] }: TokensBody, format: string, line: CommandLine, io: CommandIo): number {
  const shown = line.last('all') === undefined ? tokens.filter(({ state }) => state === 'valid') : tokens;
  if (format === 'json') io.out(jsonDocument('tokens', { tokens: shown }));
  else if (shown.length > 0) textTable([COLUMNS, ...shown.map(cellsOf)]).forEach(io.out);
  else io.err(tokens.length === 0 ? 'There are no tokens.' : 'No tokens are valid. --all shows those that have ended.');
  return EXIT.ok;
}

const COLUMNS = ['id', 'for', 'state', 'ends', 'last used', 'scope', 'restrictions', 'note'];

const cellsOf = (token: ShownToken) => {
  const { id, for: caller, scope, state, ends, lastUsed, note = '' } = token;
  const used = lastUsed === undefined ? 'never' : minuteOf(lastUsed);
  return [id, caller, state, minuteOf(ends), used, scope.join(', '), restrictionsOf(token).join('; '), note];
};

/** Returns a time without its seconds. */
const minuteOf = (instant: string) => instant.replace(/:\d\d\.\d+Z$/, 'Z');

const restrictionsOf = ({ operations, networks, enrolled }: ShownToken): readonly string[] => [
  ...(operations === undefined ? [] : [`only ${operations.join(', ')}`]),
  ...(networks === undefined ? [] : [`from ${networks.join(', ')}`]),
  ...(enrolled ? ['password enrolled'] : []),
];

/** Writes the token itself to standard output, so that a script can store it, and all about it to standard error. */
function tell({ token, created, replaced, revoked, changed }: TokensBody, io: CommandIo): void {
  if (created !== undefined) io.err(`created: ${tokenLine(created)}`);
  if (replaced !== undefined) io.err(`replaced: ${tokenLine(replaced)}`);
  if (token !== undefined) {
    io.err('The token is shown only once. Store it where only the client can read it:');
    io.out(token);
  }
  if (revoked !== undefined) io.out(`revoked: ${tokenLine(revoked)}`);
  if (changed !== undefined) io.out(`changed: ${tokenLine(changed)}`);
}

function tokenLine(token: ShownToken): string {
  const { id, for: caller, scope, state, ends, note } = token;
  const end = `${state === 'valid' ? 'ends' : state} ${minuteOf(ends)}`;
  return [`${id}  for ${caller}`, scope.join(', '), ...restrictionsOf(token), end, ...(note ? [note] : [])].join('; ');
}

/** An argument that is repeated in a message must not be the token itself. */
const shownArgument = (text: string) => (text.startsWith('ptk_') ? 'ptk_…' : text);
