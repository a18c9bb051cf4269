import { type Command, type CommandIo, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { type AdminClient, type CommandTools, refusalFailure, warnIfUnstored } from '../../engine/feature-command.ts';
import { type ActionFlags, checkAction } from '../../lib/action-flags.ts';
import { choiceFlag, parsePeriod, parseSince } from '../../lib/flag-values.ts';
import { OVERRIDABLE_CHECKS } from './level-entry.ts';

const FORMATS = ['table', 'json'];
/** The flags that each action accepts but that not all actions accept. */
const OWN_FLAGS: ActionFlags = {
  list: ['events', 'format'],
  set: ['reason', 'for', 'until', 'stale', 'by'],
  end: ['by'],
};

/** The `portico override` command changes individual operations of a running gateway for a limited time. */
export const overrideCommand = (tools: CommandTools): Command => ({
  name: 'override',
  summary: 'Change one operation of a running gateway for a limited time, with a reason',
  args: 'list | set OPERATION CHANGE | end OPERATION [CHANGE]',
  argCount: [1, 3],
  argChoices: Object.keys(OWN_FLAGS),
  flags: [
    { name: 'reason', value: 'TEXT', help: 'set: why the change is necessary.' },
    { name: 'for', value: 'TIME', help: 'set: how long the change applies, for example 30m, 2h or 1d.' },
    { name: 'until', value: 'INSTANT', help: 'set: the end of the change, for example 2026-05-04T12:30Z.' },
    {
      name: 'stale',
      value: 'SECONDS',
      help: 'set force-stale: how stale a stored response may be, in seconds; 86400 by default.',
    },
    { name: 'by', value: 'NAME', help: 'set, end: your name, for the audit trail.' },
    { name: 'events', help: 'list: also show the latest entries of the audit trail.' },
    { name: 'format', value: 'FORMAT', choices: FORMATS, help: 'list: table or json.' },
    ...tools.adminFlags,
  ],
  notes: [
    'CHANGE is one of:',
    `  responses=report   the level of a check (${OVERRIDABLE_CHECKS.join(', ')}): off, report or enforce`,
    '  force-stale        serve stored responses, even stale ones, without contacting the upstream',
    '  disable            refuse every request with a 503',
    'To end an override, name only the check, force-stale or disable. Without CHANGE, all overrides of OPERATION end.',
    ...tools.adminNotes,
    'Example: portico override set {operation} responses=report --for 2h --reason "INC-17: new field"',
    'Example: portico override end {operation} responses',
  ],
  run: async (line, io) => {
    const [action = '', ...args] = line.args;
    checkAction('override', action, OWN_FLAGS, line);
    if (action === 'list') return list(tools.admin(line, io), line, io, args);
    const request = action === 'set' ? setRequest(line, args) : endRequest(line, args);
    const admin = tools.admin(line, io);
    const body = await send(admin, action === 'set' ? '/levels' : '/levels/end', request);
    const changed = action === 'set' ? [body.override].flatMap((one) => one ?? []) : (body.ended ?? []);
    for (const override of changed) io.out(`${action === 'set' ? 'set' : 'ended'}: ${overrideLine(override)}`);
    warnIfUnstored(body, io);
    return EXIT.ok;
  },
});

/** An override in the form returned by the admin side. */
interface ListedOverride {
  readonly operation: string;
  readonly kind: string;
  readonly check?: string;
  readonly level?: string;
  readonly maxStaleSeconds?: number;
  readonly reason: string;
  readonly by?: string;
  readonly from?: string;
  readonly until: string;
}

interface OverridesBody {
  readonly override?: ListedOverride;
  readonly ended?: readonly ListedOverride[];
  readonly stored?: boolean;
  readonly overrides?: readonly ListedOverride[];
  readonly events?: readonly (ListedOverride & {
    readonly at: string;
    readonly event: string;
    readonly endedBy?: Pick<ListedOverride, 'by' | 'from'>;
  })[];
}

async function send(admin: AdminClient, path: string, request?: object): Promise<OverridesBody> {
  const response = await admin.send(request === undefined ? 'GET' : 'POST', path, request);
  if (response.status !== 200) throw refusalFailure(response);
  return response.body as OverridesBody;
}

async function list(admin: AdminClient, line: CommandLine, io: CommandIo, args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError(`override list: unexpected argument "${args[0]}"`);
  const format = choiceFlag(line, 'format', FORMATS) ?? 'table';
  const { overrides = [], events = [] } = await send(admin, '/levels');
  const showsEvents = line.last('events') !== undefined;
  if (format === 'json') {
    io.out(jsonDocument('overrides', showsEvents ? { overrides, events } : { overrides }));
    return EXIT.ok;
  }
  if (overrides.length === 0) io.err('No overrides are active.');
  for (const override of overrides) io.out(overrideLine(override));
  for (const { at, event, endedBy, ...override } of showsEvents ? events : [])
    io.out(`${at}  ${event}${endedBy === undefined ? '' : operatorWords(endedBy)}: ${overrideLine(override)}`);
  return EXIT.ok;
}

function overrideLine({
  operation,
  kind,
  check,
  level,
  maxStaleSeconds,
  until,
  reason,
  ...who
}: ListedOverride): string {
  const stale = maxStaleSeconds === undefined ? '' : ` up to ${maxStaleSeconds} s`;
  const change = kind === 'level' ? `${check}=${level}` : `${kind}${stale}`;
  return `${operation}  ${change}  until ${until}${operatorWords(who)}: ${reason}`;
}

function operatorWords({ by, from }: Pick<ListedOverride, 'by' | 'from'>): string {
  return `${by === undefined ? '' : ` by ${by}`}${from === undefined ? '' : ` from ${from}`}`;
}

const CHANGE_FORM = 'CHECK=LEVEL, force-stale or disable';

/** Builds the request for a new override. The gateway checks the values. */
function setRequest(line: CommandLine, [operation, change]: readonly string[]): object {
  if (operation === undefined || change === undefined)
    throw new UsageError(`override set requires OPERATION and CHANGE (${CHANGE_FORM})`);
  const reason = line.last('reason');
  if (reason === undefined) throw new UsageError('override set requires --reason TEXT');
  const [time, until] = [line.last('for'), line.last('until')];
  if ((time === undefined) === (until === undefined))
    throw new UsageError('override set requires either --for TIME or --until INSTANT');
  const stale = line.last('stale');
  if (stale !== undefined && !/^\d{1,9}$/.test(stale)) throw new UsageError('--stale must be a number of seconds');
  return {
    operation,
    ...changeOf(change),
    ...(stale !== undefined && { maxStaleSeconds: Number(stale) }),
    reason,
    by: line.last('by'),
    ...(time === undefined ? { until: instantOf(until ?? '') } : { forMinutes: minutesOf(time) }),
  };
}

function changeOf(change: string): object {
  if (change === 'force-stale' || change === 'disable') return { kind: change };
  const [, check, level] = /^(\w+)=(\w+)$/.exec(change) ?? [];
  if (check === undefined) throw new UsageError(`override set ${change}: CHANGE must be ${CHANGE_FORM}`);
  return { kind: 'level', check, level };
}

function minutesOf(time: string): number {
  const period = parsePeriod(time);
  if (period === undefined) throw new UsageError(`--for ${time}: must be a time such as 30m, 2h or 1d`);
  return period / 60_000;
}

function instantOf(text: string): string {
  const at = text.includes('T') ? parseSince(text, 0) : undefined;
  if (at === undefined) throw new UsageError(`--until ${text}: must be an instant such as 2026-05-04T12:30Z`);
  return new Date(at).toISOString();
}

function endRequest(line: CommandLine, [operation, change]: readonly string[]): object {
  if (operation === undefined) throw new UsageError('override end requires OPERATION');
  return { operation, change, by: line.last('by') };
}
