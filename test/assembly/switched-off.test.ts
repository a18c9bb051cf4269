import { expect, it } from 'vitest';
import { switchedOff } from '../../src/assembly/switched-off.ts';
import { settingsOf } from './settings.ts';

it('without an issue tracker the copying of attachments is switched off, and nothing else', () => {
  expect([...switchedOff(settingsOf({ issueTracker: { enabled: false } }))]).toEqual([
    ['copyAttachments', 'issueTracker.enabled'],
  ]);
  expect(switchedOff(settingsOf({ issueTracker: { enabled: true } })).size).toBe(0);
});
