import express from 'express';
import type { Logger } from 'pino';
import { readStateFile, whyNotStored } from '../../engine/config/state-files.ts';
import type { Settings } from '../../engine/config/settings.ts';
import type { Feature } from '../../engine/feature.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { type AuditEntry, auditEntryJson } from './audit-entry.ts';
import { readTrailFiles, trailFilesOf } from './audit-file.ts';
import { createAuditTrail } from './audit-trail.ts';
import { type AuditTrailOptions, options } from './options.ts';
import { shareTrail } from './shared-trail.ts';

/** Keeps what operators do on the admin side (docs/operations.md#audit-trail). */
export const auditTrail = {
  name: 'auditTrail',
  options,
  needsRestart: true,
  files: { file: 'state' },
  forWalk: () => ({ file: IN_MEMORY }),
  // The running gateway has newer entries than the file.
  prepare: ({ options: given, settings, earlier }) => ({
    value:
      earlier ?? readStateFile(settings, fileOf(given, settings), WORDS, (file) => readTrailFiles(trailFilesOf(file))),
  }),
  start({ options: given, settings, prepared, lasting, logger, sharing, instance }) {
    const at = fileOf(given, settings);
    const trail = lasting(
      () => {
        const own = createAuditTrail({
          stored: prepared,
          files: trailFilesOf(at.file),
          onEntry: (entry) => logEntry(logger, entry),
          onError: (error) => logger.error({ err: error }, 'an entry of the audit trail cannot be stored'),
        });
        return shareTrail(own, sharing, instance);
      },
      (one) => one.close(),
    );
    return {
      async open() {
        const reason = await whyNotStored(settings, at);
        if (reason !== undefined)
          logger.warn({ auditTrail: { file: at.file, reason } }, 'the audit trail is stored in memory only');
      },
      acted: trail.record,
      actions: trail.entries,
      adminRoutes: [
        {
          path: '/audit',
          access: 'operator',
          handler: express.Router().get('/', async (_req, res) => {
            res.json({ entries: (await trail.entries()).map(auditEntryJson).toReversed() });
          }),
        },
      ],
    };
  },
} as const satisfies Feature<typeof options, readonly AuditEntry[]>;

const WORDS = { kind: 'audit trail', start: 'with an empty one' };

/** Returns the file of the trail. If only `overrides.file` is configured, the trail is next to it, as it always was. */
function fileOf({ file }: AuditTrailOptions, { originOf, overrides }: Settings) {
  const isNextTo = originOf('/auditTrail/file') === 'default' && originOf('/overrides/file') !== 'default';
  if (!isNextTo) return { file, pointer: '/auditTrail/file' };
  const next = overrides.file === IN_MEMORY ? IN_MEMORY : `${overrides.file.replace(/\.json$/, '')}-audit.jsonl`;
  return { file: next, pointer: '/overrides/file' };
}

function logEntry(logger: Logger, entry: AuditEntry): void {
  const line = { audit: auditEntryJson(entry) };
  if (entry.outcome === 'done') logger.info(line, 'an operator made a change');
  else logger.warn(line, 'a change on the admin side was refused or failed');
}
