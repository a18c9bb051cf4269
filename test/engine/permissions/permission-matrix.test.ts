import { describe, expect, it } from 'vitest';
import { formatPermissionMatrix } from '../../../src/engine/permissions/permission-matrix.ts';
import { permissionMatrix } from '../../../src/engine/permissions/permission-matrix.ts';
import { compiled } from './permissions-fixtures.ts';

const operations = ['unwikify', 'questions', 'actions'].map((id) => ({
  id,
  method: 'GET' as const,
  path: `/${id}.json`,
}));
const matrix = permissionMatrix(compiled(), operations);

describe('the permission matrix (docs/rules.md §3)', () => {
  it('has one cell per operation and role or account', () => {
    expect(matrix.subjects.map(({ kind, name }) => `${kind} ${name}`)).toContain('account alice');
    expect(matrix.rows.every(({ cells }) => cells.length === matrix.subjects.length)).toBe(true);
    expect(matrix.rows[1]).toMatchObject({ operation: 'questions', method: 'GET', path: '/questions.json' });
  });

  it('is formatted as two tables', () => {
    expect(`\n${formatPermissionMatrix(matrix)}\n`).toMatchInlineSnapshot(`
      "
      Roles      anonymous  standard  custom  site administration  moderation  private comments  attachments
      unwikify   -          own       -       -                    yes         -                 -
      questions  yes        yes       -       -                    -           -                 -
      actions    -          -         -       -                    -           -                 -

      Accounts   admin  moderator  alice  bob  guest
      unwikify   yes    yes        own    own  -
      questions  yes    yes        yes    yes  yes
      actions    yes    -          -      -    -
      "
    `);
  });
});
