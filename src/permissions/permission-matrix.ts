import type { Operation } from '../model/operation.ts';
import type { Permissions } from './compile-permissions.ts';
import { decide } from './decide.ts';
import type { Grants } from './grants.ts';

/** What a role or account may do with an operation: everything, on own nodes only, nothing, or what the upstream says. */
export type MatrixCell = 'allowed' | 'own' | 'denied' | 'delegated';

/** One operation with a cell per role and account, in the order of `subjects`. */
export interface MatrixRow {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly cells: readonly MatrixCell[];
}

/** Role × operation and account × operation. */
export interface PermissionMatrix {
  readonly subjects: readonly { readonly kind: 'role' | 'account'; readonly name: string }[];
  readonly rows: readonly MatrixRow[];
}

/** Decides every operation for every role alone and for every account. */
export function permissionMatrix(
  permissions: Permissions,
  operations: readonly Pick<Operation, 'id' | 'method' | 'path'>[],
): PermissionMatrix {
  const cellOf = (operationId: string, grants: Grants): MatrixCell => {
    const decision = decide(permissions.requirementOf(operationId), grants, 'not-asked');
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
