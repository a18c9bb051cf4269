import type { RequestRule, RuleFindings } from '../../engine/contract/rules.ts';
import { valueAt } from '../../lib/json-pointer.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import { checkLongUploadCsv, checkUploadCsv, CSV_PART_LENGTH } from './check-upload-csv.ts';
import type { GdprOptions } from './options.ts';

/** Checks the CSV of a GDPR upload (docs/rules.md §9). */
export const gdprCsv: RequestRule = {
  name: 'gdpr-csv',
  description: '`content` is CSV with the allowed columns, and each row has at least one filled cell.',
  optionsKey: 'gdpr',
  identifies: true,
  plan: (options) => (body) => csvFindings(body, options as GdprOptions),
};

async function csvFindings(body: unknown, { maxRows }: GdprOptions): Promise<RuleFindings> {
  const value = valueAt(body, '/content');
  const content = typeof value === 'string' ? value : '';
  const { violations, details, identity } =
    content.length > CSV_PART_LENGTH
      ? await checkLongUploadCsv(content, { maxRows })
      : checkUploadCsv(content, { maxRows });
  const members = isPlainObject(body) ? body : {};
  const { content: _, ...others } = members;
  const sorted = Object.entries(others).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    violations,
    details,
    ...(identity !== undefined && { identity: JSON.stringify([identity, sorted]) }),
    // The server would take a byte order mark for a part of the first column's name.
    ...(content.startsWith('\uFEFF') && {
      forwarded: Buffer.from(JSON.stringify({ ...members, content: content.slice(1) })),
    }),
  };
}
