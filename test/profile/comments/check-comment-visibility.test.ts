import { describe, expect, it } from 'vitest';
import { checkCommentVisibility, type CommentWrite } from '../../../src/profile/comments/check-comment-visibility.ts';
import { options, privateValues } from '../../../src/profile/comments/options.ts';
import { withSchemaDefaults } from '../../../src/engine/config/configurable.ts';
import type { PlainObject } from '../../../src/lib/plain-object.ts';

const DEFAULTS = withSchemaDefaults(options as unknown as PlainObject, undefined) as CommentWrite['options'];
const everything = () => true;
const check = (body: unknown, changes: Partial<CommentWrite> = {}) =>
  checkCommentVisibility({
    body,
    parentVisibility: { known: false },
    grants: everything,
    options: DEFAULTS,
    ...changes,
  });
const codes = (body: unknown, changes: Partial<CommentWrite> = {}) => check(body, changes).map(({ code }) => code);
const parent = (visibility: string | undefined) => ({ parentVisibility: { known: true, visibility } }) as const;
const holding = (...held: string[]) => ({ grants: (permission: string) => held.includes(permission) });
const group = [{ id: 1, name: 'staff', type: 'group' }];

describe('a comment', () => {
  it('without visibility and recipients is never refused', () => {
    expect(codes({ body: 'x' }, { ...holding(), ...parent('moderators') })).toEqual([]);
    expect(codes({ body: 'x', visibility: null, recipients: [] }, holding())).toEqual([]);
    expect(codes('x')).toEqual([]);
    expect(codes(null)).toEqual([]);
  });
});

describe('visibility_not_inherited', () => {
  it('applies if a reply to a limited comment sets another visibility', () => {
    expect(codes({ visibility: 'originalPoster' }, parent('moderators'))).toEqual(['visibility_not_inherited']);
    expect(codes({ visibility: 'everybody' }, parent('moderators'))).toEqual(['visibility_not_inherited']);
  });

  it('does not apply to the inherited visibility, nor under a public or unknown parent', () => {
    expect(codes({ visibility: 'moderators' }, parent('moderators'))).toEqual([]);
    expect(codes({ visibility: 'moderators' }, parent(undefined))).toEqual([]);
    expect(codes({ visibility: 'moderators' }, parent('everybody'))).toEqual([]);
    expect(codes({ visibility: 'moderators' })).toEqual([]);
  });
});

describe('recipients_without_visibility', () => {
  it('applies if recipients is set while visibility is not recipients', () => {
    expect(codes({ recipients: group })).toEqual(['recipients_without_visibility']);
    expect(codes({ recipients: group, visibility: 'moderators' })).toEqual(['recipients_without_visibility']);
    expect(codes({ recipients: 'x', visibility: 'moderators' })).toEqual(['recipients_without_visibility']);
  });

  it('does not apply with the visibility recipients, set or inherited', () => {
    expect(codes({ recipients: group, visibility: 'recipients' })).toEqual([]);
    expect(codes({ recipients: group }, parent('recipients'))).toEqual([]);
  });
});

describe('visibility_not_permitted', () => {
  it.each([
    ['recipients', 'Send private comments to own groups'],
    ['moderators', 'Send private comments to moderators'],
    ['originalPoster', 'Send private comments to the original poster'],
  ])('applies for %s without Use Private Comments or without its own permission', (visibility, own) => {
    expect(codes({ visibility }, holding('Use Private Comments', own))).toEqual([]);
    expect(check({ visibility }, holding(own))).toMatchObject([
      { code: 'visibility_not_permitted', detail: { permission: 'Use Private Comments' } },
    ]);
    const others = ['own groups', 'moderators', 'the original poster']
      .map((whom) => `Send private comments to ${whom}`)
      .filter((permission) => permission !== own);
    expect(check({ visibility }, holding('Use Private Comments', ...others))).toMatchObject([
      { code: 'visibility_not_permitted', detail: { permission: own } },
    ]);
  });

  it('does not apply to a visibility that is not a private option', () => {
    expect(codes({ visibility: 'everybody' }, holding())).toEqual([]);
    expect(codes({ visibility: 'toString' }, holding())).toEqual([]);
  });

  it('uses the configured names', () => {
    const named = { visibilityOptions: privateValues({ visibilityOptions: { mods: 'toModerators' } }) };
    expect(codes({ visibility: 'mods' }, { ...holding(), options: named })).toEqual(['visibility_not_permitted']);
    expect(codes({ visibility: 'moderators' }, { ...holding(), options: named })).toEqual([]);
  });
});

describe('the three conditions', () => {
  it('are all reported in their documented order', () => {
    expect(codes({ visibility: 'moderators', recipients: group }, { ...holding(), ...parent('recipients') })).toEqual([
      'visibility_not_inherited',
      'recipients_without_visibility',
      'visibility_not_permitted',
    ]);
  });

  it('never quote the comment', () => {
    const result = check({ visibility: 'moderators', recipients: [{ name: 'secret' }] }, holding());
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(JSON.stringify(result)).not.toContain('"moderators"');
  });
});
