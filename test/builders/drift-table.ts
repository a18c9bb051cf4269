/** What one kind of chaos causes. */
export interface DriftRow {
  readonly fault: string;
  /**
   * The row numbers of operations, or `C` for creating comments and `U` for updating them. Undefined if the row applies
   * to every operation.
   */
  readonly operations: readonly string[] | undefined;
  /** The upstream's status: `ok` for the usual success status, and `-` for no response. */
  readonly status: string;
  /** The category, the keyword and the location, as stored in the ledger. */
  readonly violation: string;
}

const ROWS: readonly (readonly [fault: string, operations: string, status: string, violation: string])[] = [
  ['missing-field', '6, 8, 9, 10, 13, 14, 15, 16', 'ok', 'missing required /list/*/id'],
  ['missing-field', '7', 'ok', 'missing required /actions/*/id'],
  ['missing-field', '3, 5', 'ok', 'missing required /*/id'],
  ['missing-field', '2, 4, C, U', 'ok', 'missing required /id'],
  ['missing-field', '1', 'ok', 'missing required /fileId'],
  ['missing-field', '11, 12', 'ok', 'missing required /success'],
  ['missing-field:author', '6, 8, 13, 15, 16', 'ok', 'advisory x-expected /list/*/author'],
  ['missing-field:author', '3, 5', 'ok', 'advisory x-expected /*/author'],
  ['missing-field:author', '4, C, U', 'ok', 'advisory x-expected /author'],
  ['missing-field:type', '13', 'ok', 'missing required /list/*/type'],
  ['missing-field:result', '11, 12', 'ok', 'missing required /result'],
  ['missing-field:executions', '2', 'ok', 'semantic executions-when-finished /executions'],
  ['missing-field:status', '2', 'ok', 'missing required /status'],
  ['wrong-type', '6, 8, 9, 10, 13, 14, 15, 16', 'ok', 'type type /list/*/id'],
  ['wrong-type', '7', 'ok', 'type type /actions/*/id'],
  ['wrong-type', '3, 5', 'ok', 'type type /*/id'],
  ['wrong-type', '2, 4, C, U', 'ok', 'type type /id'],
  ['wrong-type', '11, 12', 'ok', 'type type /success'],
  ['wrong-type:topics', '6, 8, 13, 16', 'ok', 'type type /list/*/topics'],
  ['wrong-type:author', '6, 8, 13, 15, 16', 'ok', 'type type /list/*/author'],
  ['wrong-type:author', '3, 5', 'ok', 'type type /*/author'],
  ['wrong-type:user', '7', 'ok', 'type type /actions/*/user'],
  ['wrong-type:actionDate', '7', 'ok', 'type type /actions/*/actionDate'],
  ['wrong-type:type', '13', 'ok', 'type type /list/*/type'],
  ['wrong-type:status', '2', 'ok', 'type type /status'],
  ['extra-field', '6, 8, 9, 10, 13, 14, 15, 16', 'ok', 'undocumented undocumented-field /list/*/unexpectedField'],
  ['extra-field', '7', 'ok', 'undocumented undocumented-field /actions/*/unexpectedField'],
  ['extra-field', '3, 5', 'ok', 'undocumented undocumented-field /*/unexpectedField'],
  ['extra-field', '1, 2, 4, 11, 12, C, U', 'ok', 'undocumented undocumented-field /unexpectedField'],
  ['extra-field:bob.smith', '4', 'ok', 'undocumented undocumented-field /?'],
  ['wrong-envelope', '3, 5, 6, 8, 9, 10, 13, 14, 15, 16', 'ok', 'type type'],
  ['wrong-envelope', '1, 2, 4, 7, 11, 12, C, U', 'ok', 'type shape'],
  ['malformed', 'every', 'ok', 'protocol json'],
  ['content-type', 'every', 'ok', 'protocol content-type content-type'],
  ['html', 'every', '401', 'protocol html content-type'],
  ['html:500', 'every', '500', 'protocol html content-type'],
  ['error-in-200', 'every', '200', 'protocol error-in-success'],
  ['error-in-200:permission', 'every', '200', 'protocol error-in-success'],
  ['500', 'every', '500', 'protocol server-error'],
  ['truncated', 'every', '-', 'protocol truncated'],
  ['reset', 'every', '-', 'protocol reset'],
  ['slow', 'every', '-', 'protocol deadline'],
];

/** Returns the one violation that each kind of chaos causes. */
export function driftTable(): readonly DriftRow[] {
  return ROWS.map(([fault, operations, status, violation]) => ({
    fault,
    operations: operations === 'every' ? undefined : operations.split(', '),
    status,
    violation,
  }));
}
