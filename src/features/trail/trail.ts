import type { Logger } from 'pino';
import { readStateFile, whyNotStored } from '../../engine/config/state-files.ts';
import type { Feature } from '../../engine/feature.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { type AuditEntry, auditEntryJson } from './audit-entry.ts';
import { readTrailFiles, trailFilesOf } from './audit-file.ts';
import { trailPage, trailRouter } from './trail-page.ts';
import { createAuditTrail } from './audit-trail.ts';
import { options } from './options.ts';
import { shareTrail } from './shared-trail.ts';

/** Keeps what operators do on the admin side (docs/operations.md#audit-trail). */
export const auditTrail = {
  name: 'auditTrail',
  options,
  needsRestart: true,
  files: { file: 'state' },
  formerKeys: [{ from: ['overrides.file'], to: 'file', convert: formerFile }],
  forWalk: () => ({ file: IN_MEMORY }),
  // The running gateway has newer entries than the file.
  prepare: ({ options: given, settings, earlier }) => ({
    value:
      earlier ??
      readStateFile(settings, { file: given.file, pointer: POINTER }, WORDS, (file) =>
        readTrailFiles(trailFilesOf(file)),
      ),
  }),
  start({ options: given, settings, prepared, lasting, logger, sharing, instance }) {
    const at = { file: given.file, pointer: POINTER };
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
      pages: [trailPage(trail)],
      adminRoutes: [
        {
          path: '/audit',
          access: 'operator',
          handler: trailRouter(trail),
        },
      ],
    };
  },
} as const satisfies Feature<typeof options, readonly AuditEntry[]>;

const POINTER = '/auditTrail/file';
const WORDS = { kind: 'audit trail', start: 'with an empty one' };

/** Returns the file of the trail as earlier versions named it: next to that of the overrides. */
function formerFile([overrides]: readonly unknown[]): unknown {
  if (typeof overrides !== 'string' || overrides === IN_MEMORY) return overrides;
  return `${overrides.replace(/\.json$/, '')}-audit.jsonl`;
}

function logEntry(logger: Logger, entry: AuditEntry): void {
  const line = { audit: auditEntryJson(entry) };
  if (entry.outcome === 'done') logger.info(line, 'an operator made a change');
  else logger.warn(line, 'a change on the admin side was refused or failed');
}
