import { DRIFT_KINDS, FAULT_GRAMMAR, FAULT_NAMES, type FaultName } from './fault-names.ts';
import type { Fault } from './fault-plan.ts';

/** Every text that is no fault, one line each. */
export class FaultSyntaxError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super([...problems, `A fault is written ${FAULT_GRAMMAR}.`].join('\n'));
    this.name = 'FaultSyntaxError';
    this.problems = problems;
  }
}

const NUMERIC: ReadonlyMap<string, { readonly least: number; readonly most: number }> = new Map([
  ['slow', { least: 0, most: 600_000 }],
  ['truncated', { least: 0, most: 1_000_000_000 }],
  ['html', { least: 200, most: 599 }],
]);
const PARAMETERLESS: ReadonlySet<string> = new Set(['reset', 'malformed', 'wrong-envelope']);

function isFaultName(name: string): name is FaultName {
  return (FAULT_NAMES as readonly string[]).includes(name);
}

function parameterProblem(name: FaultName, parameter: string): string | undefined {
  if (PARAMETERLESS.has(name)) return `${name} takes no parameter`;
  const range = NUMERIC.get(name);
  if (range !== undefined) {
    const fits = /^\d{1,9}$/.test(parameter) && Number(parameter) >= range.least && Number(parameter) <= range.most;
    return fits
      ? undefined
      : `${name} needs a number from ${range.least} to ${range.most}, not ${JSON.stringify(parameter)}`;
  }
  if (name === 'drift') return `the parameter of drift is one of ${DRIFT_KINDS.join(', ')}`;
  if (name === 'error-in-200' && parameter !== 'permission') return 'error-in-200 knows only the parameter permission';
  // A line break or a sign outside Latin-1 cannot be sent in a header.
  const printable = /^[\x20-\x7e]+$/.test(parameter);
  return printable ? undefined : `the parameter of ${name} is empty or not printable ASCII`;
}

function parseTarget(text: string): number | RegExp | string {
  if (/^\d+$/.test(text)) {
    const operation = Number(text);
    return operation >= 1 && operation <= 16 ? operation : `there is no operation ${text}, only 1 to 16`;
  }
  try {
    return new RegExp(text);
  } catch {
    return `${JSON.stringify(text)} is no regular expression`;
  }
}

/** `drift:KIND` and `drift:KIND:FIELD` are other ways to write `KIND` and `KIND:FIELD`. */
function plainKind(text: string): string {
  const [, kind] = /^drift[:=]([a-z-]+)/.exec(text) ?? [];
  return (DRIFT_KINDS as readonly (string | undefined)[]).includes(kind) ? text.slice('drift:'.length) : text;
}

function parseFault(text: string): Fault | string {
  const parts = /^([^:=@%]+)(?:[:=]([^@]*?))?(?:@(.+?))?(?:%([^%]*))?$/.exec(plainKind(text.trim()));
  if (parts === null) return 'it cannot be read';
  const [, name = '', parameter, targetText, shareText] = parts;
  if (!isFaultName(name)) return `there is no fault ${JSON.stringify(name)}, only ${FAULT_NAMES.join(', ')}`;
  const problem = parameter === undefined ? undefined : parameterProblem(name, parameter);
  if (problem !== undefined) return problem;
  const percent = shareText === undefined ? 100 : /^\d{1,3}(\.\d{1,6})?$/.test(shareText) ? Number(shareText) : 0;
  if (percent <= 0 || percent > 100)
    return `the share is a percentage above 0 and up to 100, not ${JSON.stringify(shareText)}`;
  const target = targetText === undefined ? undefined : parseTarget(targetText);
  if (typeof target === 'string') return target;
  return {
    name,
    ...(parameter === undefined ? {} : { parameter }),
    ...(target === undefined ? {} : { target }),
    share: percent / 100,
  };
}

/** Reads the texts of `--fault`; throws a FaultSyntaxError that names every bad one. */
export function parseFaults(texts: readonly string[]): readonly Fault[] {
  const parsed = texts.map((text) => ({ text, result: parseFault(text) }));
  const problems = parsed.flatMap(({ text, result }) =>
    typeof result === 'string' ? [`--fault ${JSON.stringify(text)}: ${result}`] : [],
  );
  if (problems.length > 0) throw new FaultSyntaxError(problems);
  return parsed.flatMap(({ result }) => (typeof result === 'string' ? [] : [result]));
}
