import type { Sql } from '../store/sql.ts';

/** The operations that a GDPR job can run on a user (field facts, grade D). */
export const GDPR_OPERATIONS = ['suspend', 'anonymize', 'delete', 'anon-delete'] as const;

/** One operation of a GDPR job. */
export type GdprOperation = (typeof GDPR_OPERATIONS)[number];

const ANONYMIZE = `UPDATE users SET username = 'anonymous-' || id, realname = NULL,
  email = 'anonymous-' || id || '@anonymized.invalid', modified_at = ?1 WHERE id = ?2`;
const DELETE = 'UPDATE users SET active = 0, deactivated = 1, modified_at = ?1 WHERE id = ?2';

const STATEMENTS: Readonly<Record<GdprOperation, readonly string[]>> = {
  suspend: ['UPDATE users SET suspended = 1, modified_at = ?1 WHERE id = ?2'],
  anonymize: [ANONYMIZE],
  delete: [DELETE],
  'anon-delete': [ANONYMIZE, DELETE],
};

/** Runs one operation on one user; content stays, as the author is only renamed or switched off. */
export function applyGdprOperation(sql: Sql, operation: GdprOperation, userId: number, now: number): void {
  for (const statement of STATEMENTS[operation]) sql.run(statement, now, userId);
}
