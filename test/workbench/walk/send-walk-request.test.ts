import { levels } from '../../../src/features/levels/levels.ts';
import type { LevelsOptions } from '../../../src/features/levels/options.ts';
import { describe, expect, it } from 'vitest';
import { optionsOf } from '../../../src/engine/config/configurable.ts';
import { learning } from '../../../src/features/learning/learning.ts';
import { loadSettings } from '../../../src/portico-settings.ts';
import { toWalkSettings } from '../../../src/workbench/walk/send-walk-request.ts';

describe('the settings of a walk', () => {
  it('do not use the ladder and observation files of the serving gateway', () => {
    const traffic = { source: '--set', kind: 'flag', pointer: '/learn/traffic', value: true } as const;
    const walk = toWalkSettings(loadSettings({ env: {}, cwd: '/', flags: [traffic] }), undefined);
    expect({ levels: (optionsOf(walk, levels) as LevelsOptions).file, learn: optionsOf(walk, learning) }).toEqual({
      levels: ':memory:',
      learn: { traffic: false, file: ':memory:' },
    });
  });
});
