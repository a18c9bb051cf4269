import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** A database with prepared statements kept by their text. */
export interface Sql {
  all<Row>(text: string, ...values: SQLInputValue[]): Row[];
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row that its text selects
  get<Row>(text: string, ...values: SQLInputValue[]): Row | undefined;
  run(text: string, ...values: SQLInputValue[]): void;
  script(text: string): void;
  /** Runs the work in one transaction, rolled back when it throws. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/** A value that can be bound to a statement. */
export type SqlValue = SQLInputValue;

/** Opens the SQLite database at a file path or `:memory:`. */
export function openSql(path: string): Sql {
  const database = new DatabaseSync(path);
  const statements = new Map<string, StatementSync>();
  const prepared = (text: string): StatementSync => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(text);
    // List queries are composed, so their texts are many: bounded, the oldest go first.
    if (statements.size >= 500)
      for (const oldest of statements.keys()) {
        statements.delete(oldest);
        break;
      }
    statements.set(text, statement);
    return statement;
  };
  return {
    all: <Row>(text: string, ...values: SQLInputValue[]) => prepared(text).all(...values) as Row[],
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as declared above
    get: <Row>(text: string, ...values: SQLInputValue[]) => prepared(text).get(...values) as Row | undefined,
    run: (text, ...values) => void prepared(text).run(...values),
    script: (text) => database.exec(text),
    transaction: (work) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}
