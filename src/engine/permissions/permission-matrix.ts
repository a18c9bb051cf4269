import { textTable } from '../../lib/text-table.ts';
import type { Operation } from '../model/operation.ts';
import type { Permissions } from './compile-permissions.ts';
import { decide, type Grants } from './decide.ts';

/**
 * A role's or account's access to an operation. `own` means access only to the caller's own nodes, and `delegated`
 * means that the upstream decides.
 */
type MatrixCell = 'allowed' | 'own' | 'denied' | 'delegated';

/** One row of the matrix: an operation, with one cell for each role and account, in the order of `subjects`. */
interface MatrixRow {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly cells: readonly MatrixCell[];
}

/** The operations that each role and each account may use. */
export interface PermissionMatrix {
  readonly subjects: readonly { readonly kind: 'role' | 'account'; readonly name: string }[];
  readonly rows: readonly MatrixRow[];
}

/** Computes which operations each role and each account may use. */
export function permissionMatrix(
  permissions: Permissions,
  operations: readonly Pick<Operation, 'id' | 'method' | 'path'>[],
): PermissionMatrix {
  const cellOf = (operationId: string, grants: Grants): MatrixCell => {
    const decision = decide(permissions.requirementOf(operationId), grants, 'not-checked');
    if (decision.verdict !== 'delegated') return decision.verdict;
    return decision.because === 'ownership' ? 'own' : 'delegated';
  };
  return {
    subjects: permissions.subjects.map(({ kind, name }) => ({ kind, name })),
    rows: operations.map(({ id, method, path }) => {
      return { operation: id, method, path, cells: permissions.subjects.map(({ grants }) => cellOf(id, grants)) };
    }),
  };
}

const MARKS: Readonly<Record<MatrixCell, string>> = { allowed: 'yes', own: 'own', denied: '-', delegated: 'upstream' };

/** Formats the matrix as two text tables, one for roles and one for accounts. */
export function formatPermissionMatrix(matrix: PermissionMatrix): string {
  return [formatTable('role', 'Roles', matrix), formatTable('account', 'Accounts', matrix)].join('\n\n');
}

function formatTable(kind: 'role' | 'account', title: string, { subjects, rows }: PermissionMatrix): string {
  const columns = subjects.flatMap((subject, index) => (subject.kind === kind ? [index] : []));
  const lines = [
    [title, ...columns.map((index) => subjects[index]?.name ?? '')],
    ...rows.map(({ operation, cells }) => [operation, ...columns.map((index) => MARKS[cells[index] ?? 'denied'])]),
  ];
  return textTable(lines).join('\n');
}
