import { describe, expect, it } from 'vitest';
import { withoutFormerKeys } from '../../../src/engine/config/former-keys.ts';
import type { Configurable } from '../../../src/engine/config/settings.ts';
import { faultsOf, load } from './load-in-folder.ts';
import { optionsOf } from '../../../src/engine/config/configurable.ts';
import { levels } from '../../../src/features/levels/levels.ts';

const feature = {
  name: 'levels',
  formerKeys: [
    { from: ['ladder.promote'], to: 'promote' },
    { from: ['ladder.file', 'overrides.file'], to: 'file', convert: (files: readonly unknown[]) => files.join('+') },
  ],
} as unknown as Configurable;
const other = { name: 'trail', formerKeys: [{ from: ['overrides.file'], to: 'file' }] } as unknown as Configurable;
const read = (given: Readonly<Record<string, unknown>>) => withoutFormerKeys(given, { features: [feature, other] });

describe('the keys of earlier versions', () => {
  it('become options, one of them of two features, and leave no empty sections', () => {
    const { value, renamed, writtenAt } = read({
      mode: 'strict',
      ladder: { promote: { enabled: true }, file: 'a' },
      overrides: { file: 'b' },
    });
    expect(value).toEqual({
      mode: 'strict',
      levels: { promote: { enabled: true }, file: 'a+b' },
      trail: { file: 'b' },
    });
    expect(renamed.map(({ from, to, isUsed }) => [from, to, isUsed])).toEqual([
      ['/ladder/promote', '/levels/promote', true],
      ['/ladder/file', '/levels/file', true],
      ['/overrides/file', '/levels/file', true],
      ['/overrides/file', '/trail/file', true],
    ]);
    expect(writtenAt('/levels/promote/enabled')).toBe('/ladder/promote/enabled');
    expect(writtenAt('/mode')).toBe('/mode');
  });

  it('have no effect if the option is set, too', () => {
    const { value, renamed, writtenAt } = read({ ladder: { promote: { enabled: true } }, levels: { promote: {} } });
    expect(value).toEqual({ levels: { promote: {} } });
    expect(renamed).toMatchObject([{ from: '/ladder/promote', isUsed: false }]);
    expect(writtenAt('/levels/promote')).toBe('/levels/promote');
  });

  it('change nothing in a configuration without them, and keep unknown ones for the schema', () => {
    const given = { levels: { promote: {} }, ladder: { speed: 1 } };
    expect(read(given)).toMatchObject({ value: given, renamed: [] });
  });

  it('set the options of a gateway, with errors at the place in the file', () => {
    const settings = load('ladder:\n  demote: { share: 0.5 }\noverrides: { maxHours: 2 }\n');
    expect(optionsOf(settings, levels)).toMatchObject({
      demote: { share: 0.5, minAnswers: 20 },
      overrides: { maxHours: 2 },
    });
    expect(settings.originOf('/levels/demote/share')).toBe('file');
    expect(settings.placeOf('/levels/demote/share')).toMatchObject({ pointer: '/ladder/demote/share' });
    expect(faultsOf('mode: strict\nladder:\n  demote: { share: 2 }\n')).toMatchObject([
      { source: expect.stringMatching(/portico\.yaml:3$/) as string, pointer: '/ladder/demote/share' },
    ]);
    expect(faultsOf('ladder: { demot: {} }')).toMatchObject([{ pointer: '/ladder' }]);
    expect(faultsOf('ladder: 5')).toMatchObject([{ pointer: '/ladder' }]);
  });
});
