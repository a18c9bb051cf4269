import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/portico-settings.ts';
import { toWalkSettings } from '../../../src/workbench/walk/send-walk-request.ts';

describe('the settings of a walk', () => {
  it('do not use the ladder and observation files of the serving gateway', () => {
    const settings = loadSettings({ env: {}, cwd: '/', flags: [] });
    const { ladder, learn } = toWalkSettings({ ...settings, learn: { ...settings.learn, traffic: true } }, undefined);
    expect({ ladder: ladder.file, learn }).toEqual({ ladder: ':memory:', learn: { traffic: false, file: ':memory:' } });
  });
});
