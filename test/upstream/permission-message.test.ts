import { describe, expect, it } from 'vitest';
import { compilePermissionMessage } from '../../src/upstream/permission-message.ts';
import { UPSTREAM_DEFAULTS } from '../../src/upstream/upstream-options.ts';

const isPermission = compilePermissionMessage(UPSTREAM_DEFAULTS.permissionMessages);

describe('a permission message', () => {
  it.each([
    "You don't have permission to do this action.<br>Please login as another user",
    'You don&#39;t have permission to do this action.',
    'You do not have the required permission',
    'You don’t have permissions.',
    'Please log in as a different user',
    'Permission denied',
    'Insufficient permissions',
    'You are not allowed to view this page',
  ])('is recognised by default: %s', (message) => {
    expect(isPermission(message, [])).toBe(true);
  });

  it.each(['Bad credentials', 'Unauthorized', 'Please login', 'The permission name is required', 'not found'])(
    'is not seen in: %s',
    (message) => {
      expect(isPermission(message, [])).toBe(false);
    },
  );

  it('can be a documented text of status 403, and of no other', () => {
    expect(isPermission('Go &amp; away', [{ status: 403, text: 'Go & away' }])).toBe(true);
    expect(isPermission('Go away', [{ status: 400, text: 'Go away' }])).toBe(false);
  });

  it('can be configured', () => {
    expect(compilePermissionMessage(['^verboten$'])('VERBOTEN', [])).toBe(true);
    expect(() => compilePermissionMessage(['('])).toThrow(SyntaxError);
  });
});
