import type { Feature } from '../../engine/feature.ts';
import { options } from './options.ts';
import { DUPLICATE_UPLOAD, refuseDuplicate } from './refuse-duplicate.ts';
import { createUploadMemory } from './upload-memory.ts';

/** Limits GDPR uploads, and refuses those that repeat a recent one (docs/rules.md §9). */
export const gdpr = {
  name: 'gdpr',
  options,
  errors: [DUPLICATE_UPLOAD],
  auditRules: [
    {
      id: 'repeated-uploads',
      severity: 'low',
      key: '/gdpr/duplicateWindowSeconds',
      risk: 'A privacy upload that is sent twice is processed twice.',
      fix: 'Use the default of 600 seconds.',
      find: ({ duplicateWindowSeconds }, { mode }) =>
        !mode.transparent && duplicateWindowSeconds === 0 ? [String(duplicateWindowSeconds)] : [],
    },
  ],
  warn: (_options, { settings }) =>
    settings.mode.transparent
      ? [{ pointer: '/gdpr/duplicateWindowSeconds', because: 'observe mode does not refuse uploads' }]
      : [],
  start({ options: { duplicateWindowSeconds }, sharing }) {
    const uploads = createUploadMemory(sharing.claims('upload'));
    const windowMs = duplicateWindowSeconds * 1000;
    return {
      stages: [refuseDuplicate(uploads, windowMs)],
      passiveStages: [refuseDuplicate(uploads, windowMs, true)],
    };
  },
} as const satisfies Feature<typeof options>;
