/** The effect of each kind of chaos and the meaning of its parameter, keyed by the name of the kind. */
export const CHAOS_EFFECTS = {
  slow: 'responds late; parameter: milliseconds (default: 2000)',
  '500': 'responds with 500 and {error}; parameter: the message',
  reset: 'resets the connection instead of responding',
  truncated: 'declares the full length and closes the connection mid-body; parameter: bytes to send (default: half)',
  malformed: 'sends JSON that cannot be parsed',
  html: 'sends a servlet container’s HTML page; parameter: status (default: 401)',
  'content-type': 'sends the correct body with the wrong content type; parameter: the type (default: text/plain)',
  'missing-field': 'omits a field of the first item; parameter: the field (default: id, otherwise the first field)',
  'wrong-type':
    'changes the type of a field of the first item; parameter: the field (default: id, otherwise the first field)',
  'extra-field': 'adds a field to the first item; parameter: the field (default: unexpectedField)',
  'wrong-envelope': 'sends a list without its envelope, and wraps any other body in {data}',
  drift:
    'one of the four effects above, chosen per response; parameter: its name and parameter (drift:wrong-type:title)',
  'error-in-200': 'responds with 200 and an error in the body; parameter: “permission” sends the permission message',
} as const;

/** The name of a kind of chaos. */
export type ChaosName = keyof typeof CHAOS_EFFECTS;

/** The kinds of `drift`. Each kind turns a successful response into one that the specification does not allow. */
export const DRIFT_KINDS = [
  'missing-field',
  'wrong-type',
  'extra-field',
  'wrong-envelope',
] as const satisfies readonly ChaosName[];

/** The names of all kinds of chaos, for the help text. */
export const CHAOS_NAMES = Object.keys(CHAOS_EFFECTS) as readonly ChaosName[];

/** Returns whether a string is the name of a kind of chaos. */
export function isChaosName(name: string): name is ChaosName {
  return Object.hasOwn(CHAOS_EFFECTS, name);
}

/**
 * The highest operation number. The number is not read from the routes, because the commands parse `--fault` without
 * loading the server. A test compares the number with each `x-row` in the contract and with the `operation` of each
 * route.
 */
export const LAST_OPERATION = 16;

/** The grammar of `--fault`. Parts in brackets are optional. */
export const CHAOS_GRAMMAR = 'NAME[:PARAMETER][@OPERATION-NUMBER or @PATH-REGEX][%SHARE]';

const NUMERIC: ReadonlyMap<string, { readonly least: number; readonly most: number }> = new Map([
  ['slow', { least: 0, most: 600_000 }],
  ['truncated', { least: 0, most: 1_000_000_000 }],
  ['html', { least: 200, most: 599 }],
]);
const PARAMETERLESS: ReadonlySet<string> = new Set(['reset', 'malformed', 'wrong-envelope']);

/** Returns a description of what is wrong with a chaos parameter, or undefined if the parameter is valid. */
export function parameterProblem(name: ChaosName, parameter: string): string | undefined {
  if (PARAMETERLESS.has(name)) return `${name} does not take a parameter`;
  const range = NUMERIC.get(name);
  if (range !== undefined) {
    const isValid = /^\d{1,9}$/.test(parameter) && Number(parameter) >= range.least && Number(parameter) <= range.most;
    return isValid
      ? undefined
      : `${name} requires a number from ${range.least} to ${range.most}, not ${JSON.stringify(parameter)}`;
  }
  if (name === 'drift') return `the parameter of drift must be one of ${DRIFT_KINDS.join(', ')}`;
  if (name === 'error-in-200' && parameter !== 'permission') return 'the only parameter of error-in-200 is permission';
  // A header cannot contain line breaks or characters outside Latin-1.
  const printable = /^[\x20-\x7e]+$/.test(parameter);
  return printable ? undefined : `the parameter of ${name} must be printable ASCII and must not be empty`;
}
