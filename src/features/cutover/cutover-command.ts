import { type AdminClient, type CommandTools, refusalFailure, warnIfUnstored } from '../../engine/feature-command.ts';
import { type ActionFlags, checkAction } from '../../lib/action-flags.ts';
import { type Command, CommandFailure, type CommandIo, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import { choiceFlag } from '../../lib/flag-values.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { textTable } from '../../lib/text-table.ts';

const FORMATS = ['table', 'json'];
const OWN_FLAGS: ActionFlags = {
  status: ['format'],
  set: ['by', 'reason'],
  freeze: ['by', 'reason'],
  return: ['by', 'reason'],
  resume: ['by', 'reason'],
};

/** The `portico cutover` command shows and changes the share of the callers whom the new server serves. */
export const cutoverCommand = (tools: CommandTools): Command => ({
  name: 'cutover',
  summary: 'Show or change who is served by the new server',
  args: '[status] | set OPERATION SHARE | freeze | return | resume',
  argCount: [0, 3],
  argChoices: Object.keys(OWN_FLAGS),
  flags: [
    { name: 'by', value: 'NAME', help: 'set, freeze, return, resume: your name, for the audit trail.' },
    { name: 'reason', value: 'TEXT', help: 'set, freeze, return, resume: why.' },
    { name: 'format', value: 'FORMAT', choices: FORMATS, help: 'status: table or json.' },
    ...tools.adminFlags,
  ],
  notes: [
    "OPERATION is an operation's id, undocumented, or '*' for all that read. SHARE is a percentage of the callers.",
    'freeze keeps the shares, but they cannot be raised. return gives everybody back to the old server at once.',
    'resume ends both. Whoever moves callers to the new server must give a name.',
    ...tools.adminNotes,
    "Example: portico cutover set '*' 5 --by alice",
    'Example: portico cutover return --by alice --reason "INC-17: wrong totals"',
  ],
  run: async (line, io) => {
    const [action = 'status', ...args] = line.args;
    checkAction('cutover', action, OWN_FLAGS, line);
    if (args.length > (action === 'set' ? 2 : 0))
      throw new UsageError(`cutover ${action}: unexpected argument "${args.at(-1)}"`);
    if (action === 'status') return status(tools.admin(line, io), line, io);
    const who = { by: line.last('by'), reason: line.last('reason') };
    const request = action === 'set' ? { ...setRequest(args), ...who } : who;
    const changed = await send(tools.admin(line, io), `/cutover/${action}`, request);
    io.out(decisionLine(changed['decision'] as ShownDecision));
    warnIfUnstored(changed, io);
    if (changed['shared'] === false) io.err(`warning: ${UNSHARED}`);
    return EXIT.ok;
  },
});

const UNSHARED =
  'other gateways have not heard of it, because Redis cannot be reached: decide it there, too, if it cannot wait';

interface ShownDecision {
  readonly phase: string;
  readonly shares: Readonly<Record<string, number>>;
  readonly cause: string;
  readonly reason: string;
  readonly by?: string;
  readonly at: string;
}

interface Overview {
  readonly url: string;
  readonly phase: string;
  readonly decisions: readonly ShownDecision[];
  readonly operations: readonly { readonly operation: string; readonly share: number }[];
  readonly counts: readonly {
    readonly operation?: string;
    readonly side: string;
    readonly exchanges: number;
    readonly failed: number;
    readonly violated: number;
    readonly refused: number;
    readonly latency?: number;
  }[];
}

function setRequest([operation, text]: readonly string[]): object {
  if (operation === undefined || text === undefined) throw new UsageError('cutover set requires OPERATION and SHARE');
  const share = /^\d{1,3}(?:\.\d{1,3})?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (!(share <= 100)) throw new UsageError(`cutover set ${operation} ${text}: SHARE must be a percentage, 0 to 100`);
  return { operation, share };
}

async function send(admin: AdminClient, path: string, request?: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await admin.send(request === undefined ? 'GET' : 'POST', path, request);
  if (response.status === 200) return membersOf(response.body);
  if (response.status === 404)
    throw new CommandFailure('There is no cut-over: set cutover in the configuration of the gateway.');
  throw refusalFailure(response);
}

async function status(admin: AdminClient, line: CommandLine, io: CommandIo): Promise<number> {
  const format = choiceFlag(line, 'format', FORMATS) ?? 'table';
  const found = (await send(admin, '/cutover')) as unknown as Overview;
  if (format === 'json') {
    io.out(jsonDocument('cutover', found));
    return EXIT.ok;
  }
  const [latest] = found.decisions;
  io.out(`${found.url}: ${latest === undefined ? 'running, as configured' : decisionLine(latest)}`);
  if (found.phase !== 'running')
    io.out('portico cutover resume --by NAME ends this. portico report shows what violates the contract.');
  for (const text of table(found)) io.out(text);
  return EXIT.ok;
}

const decisionLine = ({ phase, shares, cause, reason, by, at }: ShownDecision): string => {
  const set = Object.entries(shares).map(([operation, share]) => `${operation} ${share}%`);
  const who = by ?? (cause === 'operator' ? 'an operator' : 'Portico');
  return `${phase}${set.length === 0 ? '' : ` (${set.join(', ')})`} since ${at}, by ${who}: ${reason}`;
};

const COLUMNS = ['operation', 'share', 'old', 'failed', 'new', 'failed', 'violated', 'refused', 'old ms', 'new ms'];
const NUMERIC: ReadonlySet<number> = new Set(COLUMNS.keys().drop(1));

const msOf = (seconds: number | undefined) => (seconds === undefined ? '' : String(Math.round(seconds * 1000)));

function table({ operations, counts }: Overview): readonly string[] {
  const rows = [...operations, { operation: undefined, share: undefined }].map(({ operation, share }) => {
    const of = (side: string) => counts.find((one) => one.operation === operation && one.side === side);
    const [old, fresh] = [of('old'), of('new')];
    const numbers = [old?.exchanges, old?.failed, fresh?.exchanges, fresh?.failed, fresh?.violated, fresh?.refused];
    const shown = numbers.map((one) => String(one ?? 0));
    return [operation ?? 'all', share === undefined ? '' : `${share}%`].concat(
      shown,
      msOf(old?.latency),
      msOf(fresh?.latency),
    );
  });
  return ['', ...textTable([COLUMNS, ...rows], NUMERIC)];
}
