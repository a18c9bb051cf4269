import {
  CHAOS_GRAMMAR,
  CHAOS_NAMES,
  DRIFT_KINDS,
  isChaosName,
  LAST_OPERATION,
  parameterProblem,
} from './chaos-kinds.ts';
import type { ChaosRule } from './chaos-plan.ts';

/** An error that lists all invalid `--fault` values, one per line. */
export class ChaosSyntaxError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super([...problems, `The format is ${CHAOS_GRAMMAR}.`].join('\n'));
    this.name = 'ChaosSyntaxError';
    this.problems = problems;
  }
}

function parseTarget(text: string): number | RegExp | string {
  if (/^\d+$/.test(text)) {
    const operation = Number(text);
    const isKnown = operation >= 1 && operation <= LAST_OPERATION;
    return isKnown ? operation : `unknown operation ${text}; the operations are 1 to ${LAST_OPERATION}`;
  }
  try {
    return new RegExp(text);
  } catch {
    return `${JSON.stringify(text)} is not a valid regular expression`;
  }
}

/** Rewrites `drift:KIND` and `drift:KIND:FIELD` to the equivalent `KIND` and `KIND:FIELD`. */
function withoutDriftPrefix(text: string): string {
  const [, kind] = /^drift[:=]([a-z-]+)/.exec(text) ?? [];
  return (DRIFT_KINDS as readonly (string | undefined)[]).includes(kind) ? text.slice('drift:'.length) : text;
}

function parseRule(text: string): ChaosRule | string {
  const parts = /^([^:=@%]+)(?:[:=]([^@]*?))?(?:@(.+?))?(?:%([^%]*))?$/.exec(withoutDriftPrefix(text.trim()));
  if (parts === null) return 'cannot be parsed';
  const [, name = '', parameter, targetText, shareText] = parts;
  if (!isChaosName(name)) return `unknown name ${JSON.stringify(name)}; the names are ${CHAOS_NAMES.join(', ')}`;
  const problem = parameter === undefined ? undefined : parameterProblem(name, parameter);
  if (problem !== undefined) return problem;
  const percent = shareText === undefined ? 100 : /^\d{1,3}(\.\d{1,6})?$/.test(shareText) ? Number(shareText) : 0;
  if (percent <= 0 || percent > 100)
    return `the share must be a percentage greater than 0 and at most 100, not ${JSON.stringify(shareText)}`;
  const target = targetText === undefined ? undefined : parseTarget(targetText);
  if (typeof target === 'string') return target;
  return {
    name,
    ...(parameter === undefined ? {} : { parameter }),
    ...(target === undefined ? {} : { target }),
    share: percent / 100,
  };
}

/** Parses the values of `--fault`. Throws a `ChaosSyntaxError` that lists all invalid values. */
export function parseChaos(texts: readonly string[]): readonly ChaosRule[] {
  const parsed = texts.map((text) => ({ text, result: parseRule(text) }));
  const problems = parsed.flatMap(({ text, result }) =>
    typeof result === 'string' ? [`--fault ${JSON.stringify(text)}: ${result}`] : [],
  );
  if (problems.length > 0) throw new ChaosSyntaxError(problems);
  return parsed.flatMap(({ result }) => (typeof result === 'string' ? [] : [result]));
}
