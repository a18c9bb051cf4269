import { type AdminClient, type CommandTools, refusalFailure, warnIfUnstored } from '../../engine/feature-command.ts';
import { type ActionFlags, checkAction } from '../../lib/action-flags.ts';
import { type Command, CommandFailure, type CommandIo, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import { choiceFlag } from '../../lib/flag-values.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { textTable } from '../../lib/text-table.ts';
import { countWords } from '../../lib/count-words.ts';

const FORMATS = ['table', 'json'];
const OWN_FLAGS: ActionFlags = {
  list: ['operation', 'all', 'format'],
  revoke: ['reason', 'by'],
  restore: ['reason', 'by'],
  caller: [],
};

/** As many rows as a gateway stores. */
const ALL_ROWS = 20_000;

/** The `portico deprecation` command shows who still uses what is deprecated, and revokes brown-outs. */
export const deprecationCommand = (tools: CommandTools): Command => ({
  name: 'deprecation',
  summary: 'Show what is deprecated and who still uses it, or revoke a brown-out',
  args: '[list] | revoke ID | restore ID | caller NAME',
  argCount: [0, 2],
  argChoices: Object.keys(OWN_FLAGS),
  flags: [
    { name: 'operation', value: 'ID', help: 'list: only the usage of this operation.' },
    { name: 'all', help: 'list: also the usage of what is not deprecated.' },
    { name: 'format', value: 'FORMAT', choices: FORMATS, help: 'list: table or json.' },
    { name: 'reason', value: 'TEXT', help: 'revoke, restore: why.' },
    { name: 'by', value: 'NAME', help: 'revoke, restore: your name, for the audit trail.' },
    ...tools.adminFlags,
  ],
  notes: [
    'ID is the id of a brown-out, as listed. Requests in a revoked brown-out are served. restore undoes that.',
    'Callers are listed by tags. caller NAME prints the tags of an account, so that you can find its rows.',
    ...tools.adminNotes,
    'Example: portico deprecation list --operation {operation}',
    'Example: portico deprecation revoke 3f1c09ab77 --reason "INC-17: the successor is down"',
  ],
  run: async (line, io) => {
    const [action = 'list', argument, ...rest] = line.args;
    checkAction('deprecation', action, OWN_FLAGS, line);
    if (rest.length > 0 || (action === 'list' && argument !== undefined))
      throw new UsageError(`deprecation ${action}: unexpected argument "${rest[0] ?? argument}"`);
    if (action === 'list') return list(tools.admin(line, io), line, io);
    if (argument === undefined)
      throw new UsageError(`deprecation ${action} requires ${action === 'caller' ? 'NAME' : 'ID'}`);
    if (action === 'caller') {
      const { caller, claimed } = await send(tools.admin(line, io), '/deprecation/caller', { name: argument });
      io.out(`${String(caller)}, or ${String(claimed)} while credentials are not verified`);
      return EXIT.ok;
    }
    const reason = line.last('reason');
    if (reason === undefined) throw new UsageError(`deprecation ${action} requires --reason TEXT`);
    const body = { brownout: argument, reason, by: line.last('by') };
    const changed = await send(tools.admin(line, io), `/deprecation/${action}`, body);
    io.out(`${action === 'revoke' ? 'revoked' : 'restored'}: ${brownoutLine(changed['brownout'] as ListedBrownout)}`);
    warnIfUnstored(changed, io);
    return EXIT.ok;
  },
});

interface ListedBrownout {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly decision?: { readonly reason: string; readonly by?: string };
}

interface ListedEntry {
  readonly subject: string;
  readonly state: string;
  readonly since: string;
  readonly sunset?: string;
  readonly requests: number;
  readonly callers: number;
  readonly brownouts: readonly ListedBrownout[];
}

interface ListedRow {
  readonly operation: string;
  readonly part: string;
  readonly name: string;
  readonly caller: string;
  readonly count: number;
  readonly lastSeen: string;
}

interface Overview {
  readonly takenAt: string;
  readonly entries: readonly ListedEntry[];
  readonly rows: readonly ListedRow[];
  readonly removed: number;
}

async function send(admin: AdminClient, path: string, request?: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await admin.send(request === undefined ? 'GET' : 'POST', path, request);
  if (response.status === 200) return membersOf(response.body);
  if (response.status === 404)
    throw new CommandFailure('The gateway counts nothing: set deprecation in its configuration.');
  throw refusalFailure(response);
}

async function list(admin: AdminClient, line: CommandLine, io: CommandIo): Promise<number> {
  const format = choiceFlag(line, 'format', FORMATS) ?? 'table';
  const operation = line.last('operation');
  const query = new URLSearchParams({
    limit: String(ALL_ROWS),
    ...(line.last('all') !== undefined && { all: 'true' }),
    ...(operation !== undefined && { operation }),
  });
  const found = (await send(admin, `/deprecation?${query}`)) as unknown as Overview;
  if (format === 'json') {
    io.out(jsonDocument('deprecation', found));
    return EXIT.ok;
  }
  if (found.entries.length === 0) io.err('Nothing is deprecated.');
  for (const { subject, state, since, sunset, requests, callers, brownouts } of found.entries) {
    const end = sunset === undefined ? '' : `, sunset ${sunset}`;
    io.out(
      `${subject}: ${state}, since ${since}${end}; ${countWords(requests, 'request')} of ${countWords(callers, 'caller')}`,
    );
    for (const brownout of brownouts) io.out(`  brown-out ${brownoutLine(brownout)}`);
  }
  if (found.rows.length === 0) io.err('No usage has been counted.');
  else for (const text of table(found.rows)) io.out(text);
  if (found.removed > 0)
    io.err(`warning: ${found.removed} counts were removed because there were too many; see deprecation.maxRows`);
  return EXIT.ok;
}

function brownoutLine({ id, from, to, state, decision }: ListedBrownout): string {
  const why =
    decision === undefined ? '' : ` (${decision.reason}${decision.by === undefined ? '' : `, ${decision.by}`})`;
  return `${id}  ${from} to ${to}  ${state}${why}`;
}

const COLUMNS = ['operation', 'part', 'caller', 'requests', 'last seen'];
/** The index of the column that contains numbers. */
const NUMERIC: ReadonlySet<number> = new Set([3]);

function table(rows: readonly ListedRow[]): readonly string[] {
  const cells = rows.map(({ operation, part, name, caller, count, lastSeen }) => [
    operation,
    name === '' ? part : `${part} ${name}`,
    caller,
    count.toLocaleString('en-US'),
    lastSeen,
  ]);
  return ['', ...textTable([COLUMNS, ...cells], NUMERIC)];
}
