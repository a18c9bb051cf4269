/** The misbehaviours that can be switched on, each with what it does and what its parameter means. */
export const FAULTS = {
  slow: 'answers late; parameter: milliseconds (default 2000)',
  '500': 'answers 500 with {error}; parameter: the message',
  reset: 'resets the connection instead of answering',
  truncated: 'promises the whole length and cuts the connection in mid-body; parameter: bytes sent (default half)',
  malformed: 'sends JSON that does not parse',
  html: 'sends a servlet container’s HTML page; parameter: status (default 401)',
  'content-type': 'sends the right body under a wrong type; parameter: the type (default text/plain)',
  'missing-field': 'leaves a field of the first item out; parameter: the field (default id, or else the first)',
  'wrong-type': 'gives a field of the first item another type; parameter: the field (default id, or else the first)',
  'extra-field': 'adds a field to the first item; parameter: the field (default unexpectedField)',
  'wrong-envelope': 'sends a list without its envelope, anything else inside {data}',
  drift: 'one of the four above, drawn for each answer; parameter: one of them, with its own (drift:wrong-type:title)',
  'error-in-200': 'answers 200 with an error inside; parameter: permission for the permission message',
} as const;

/** The name of a fault. */
export type FaultName = keyof typeof FAULTS;

/** The kinds of `drift`: a right answer in a form that the specification does not have. */
export const DRIFT_KINDS = [
  'missing-field',
  'wrong-type',
  'extra-field',
  'wrong-envelope',
] as const satisfies readonly FaultName[];

/** The names of the faults, for help texts. */
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

/** How a fault is written: parts in brackets may be left out. */
export const FAULT_GRAMMAR = 'NAME[:PARAMETER][@OPERATION-NUMBER or @PATH-REGEX][%SHARE]';
