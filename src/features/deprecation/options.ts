import { type Static, Type } from 'typebox';

/** The characters of a URL (RFC 3986). No other text can be part of a header. */
const URL_CHARACTERS = String.raw`[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]`;

/** An absolute URL without a credential. What looks like a host is one, so that nobody is sent to another. */
const ABSOLUTE = String.raw`https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:[/?#]${URL_CHARACTERS}{0,500})?`;

const instant = (description: string) =>
  Type.String({
    pattern: String.raw`^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2}))?$`,
    description: `${description} A day, which begins at midnight UTC, or an instant such as 2026-05-04T10:00Z.`,
  });

const brownout = Type.Object(
  {
    from: instant('When the brown-out begins.'),
    to: instant('When it ends.'),
  },
  { additionalProperties: false },
);

const entry = Type.Object(
  {
    operations: Type.Array(Type.String(), {
      minItems: 1,
      uniqueItems: true,
      description: 'Ids of the deprecated operations.',
    }),
    parameter: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$',
        description:
          'A documented query parameter of these operations. If it is set, the entry applies only to requests with it.',
      }),
    ),
    since: instant('Since when, or from when, it is deprecated (`Deprecation`, RFC 9745).'),
    sunset: Type.Optional(instant('From when it may stop working (`Sunset`, RFC 8594).')),
    refuseAfterSunset: Type.Boolean({
      default: false,
      description: 'Whether requests are refused with 410 from `sunset` on.',
    }),
    link: Type.Optional(
      Type.String({
        pattern: `^${ABSOLUTE}$`,
        description:
          'The http or https URL of a page for people about the deprecation (`Link` with `rel="deprecation"`).',
      }),
    ),
    successor: Type.Optional(
      Type.String({
        pattern: `^(?:${ABSOLUTE}|/(?!/)${URL_CHARACTERS}{1,500})$`,
        description:
          'The http or https URL of what to use instead, or its path, beginning with one slash (`Link` with `rel="successor-version"`).',
      }),
    ),
    note: Type.Optional(
      Type.String({
        pattern: String.raw`^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,300}$`,
        description: 'A sentence for clients, which refusals contain.',
      }),
    ),
    brownouts: Type.Array(brownout, {
      default: [],
      maxItems: 50,
      description: 'Periods in which requests are refused with 503, so that clients notice before the end.',
    }),
    dryRun: Type.Boolean({
      default: false,
      description: 'Whether requests that would be refused are only counted.',
    }),
  },
  { additionalProperties: false },
);

/** The options under the `deprecation` configuration key. */
export const options = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      default: '.portico/deprecation.json',
      description:
        'File of the counts and of the revoked brown-outs, relative to the working directory, or `:memory:`.',
    }),
    retentionDays: Type.Integer({
      minimum: 1,
      maximum: 3650,
      default: 90,
      description: 'How long a count is stored after the last request that it counts.',
    }),
    maxRows: Type.Integer({
      minimum: 100,
      maximum: 20_000,
      default: 5000,
      description: 'Maximum number of counts. Each counts what one caller requests of one operation.',
    }),
    entries: Type.Array(entry, {
      default: [],
      maxItems: 100,
      description: 'What is deprecated. Even if nothing is, usage is counted.',
    }),
  },
  {
    additionalProperties: false,
    description:
      'Announces what is deprecated, counts who still uses it, and refuses it in the end (docs/deprecation.md). Without it, nothing is counted.',
  },
);

/** The options under the `deprecation` configuration key, with all defaults filled in. `file` is an absolute path. */
export type DeprecationOptions = Static<typeof options>;

/** An entry of `deprecation.entries`. */
export type EntryOptions = DeprecationOptions['entries'][number];
