import { describe, expect, it } from 'vitest';
import { seesPrivateFields } from '../../src/comments/private-comment-permissions.ts';

const sees = (...held: string[]) => seesPrivateFields((permission) => held.includes(permission));

describe('visibility and recipients', () => {
  it('are seen with Use Private Comments plus one of the three send permissions', () => {
    expect(sees('Use Private Comments', 'Send private comments to the original poster')).toBe(true);
    expect(sees('Use Private Comments', 'Send private comments to moderators')).toBe(true);
    expect(sees('Use Private Comments', 'Send private comments to own groups')).toBe(true);
  });

  it('are not seen with one of the two halves', () => {
    expect(sees('Use Private Comments')).toBe(false);
    expect(sees('Send private comments to own groups', 'Send private comments to moderators')).toBe(false);
    expect(sees()).toBe(false);
  });
});
