import { expect, it } from 'vitest';
import { switchedOff } from '../../src/assembly/switched-off.ts';
import { contract } from '../contract/sample.ts';
import { settingsOf } from './settings.ts';

it('without an issue tracker, only the copying of attachments is switched off', () => {
  const without = switchedOff(settingsOf({ issueTracker: { enabled: false } }), contract.operations);
  expect([...without]).toEqual([['copyAttachments', 'issueTracker.enabled']]);
  expect(switchedOff(settingsOf({ issueTracker: { enabled: true } }), contract.operations).size).toBe(0);
});

it('an operation is switched off by the feature that it needs, whatever its name', () => {
  const without = settingsOf({ issueTracker: { enabled: false } });
  const operations = [
    { id: 'copyAttachments', needsFeature: undefined },
    { id: 'another', needsFeature: 'issue-tracker' },
  ] as const;
  expect([...switchedOff(without, operations).keys()]).toEqual(['another']);
});
