import { type Static, Type } from 'typebox';

/** The forms of the messages that webhooks send. */
export const WEBHOOK_FORMATS = ['standard', 'slack', 'discord', 'teams'] as const;

const webhook = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z][a-z0-9-]{0,31}$',
      description: 'Name in metrics, on the console, and of the secret files in `secrets`.',
    }),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description:
          'The address. By default, the first line of the file `NAME.url` in `secrets`, for secret addresses.',
      }),
    ),
    account: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The account in the roles file whose permissions decide which items the webhook receives. Without it, the webhook receives only violations and demotions.',
      }),
    ),
    kinds: Type.Array(Type.String({ pattern: '^[a-z]+(\\.(\\*|[a-z]+))?$' }), {
      default: [],
      maxItems: 50,
      description: 'The kinds of events, such as `question.created`, `question.*` or `violation`; by default, all.',
    }),
    format: Type.Enum([...WEBHOOK_FORMATS], {
      default: 'standard',
      description:
        'The form of the messages: `standard` (signed, see Standard Webhooks), or a line of text in the form of a chat.',
    }),
  },
  { additionalProperties: false },
);

/** The options under the `changes` configuration key. */
export const options = Type.Object(
  {
    lists: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 20,
        uniqueItems: true,
        description:
          'The operations whose lists are read. By default, all for which the contract says how (`x-changes`) and that the account may read.',
      }),
    ),
    username: Type.Optional(
      Type.String({ minLength: 1, description: 'The account of the upstream with which the lists are read.' }),
    ),
    passwordFile: Type.Optional(
      Type.String({ minLength: 1, description: 'The file whose first line is the password of this account.' }),
    ),
    everySeconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 15,
      description: 'The time between two readings of a list.',
    }),
    requestsPerMinute: Type.Integer({
      minimum: 1,
      maximum: 6_000,
      default: 30,
      description:
        'The maximum number of requests to the upstream, for all lists, subscribers and gateways together. They are spaced evenly.',
    }),
    pageSize: Type.Integer({ minimum: 10, maximum: 1_000, default: 50, description: 'The number of items per page.' }),
    maxItems: Type.Integer({
      minimum: 100,
      maximum: 100_000,
      default: 10_000,
      description:
        'The maximum number of items that one reading covers. A list that has to be read completely and is longer is not followed.',
    }),
    folder: Type.String({
      minLength: 1,
      default: '.portico/changes',
      description:
        'The folder of the stored events, relative to the working directory, or `:memory:`. With Redis, they are stored there.',
    }),
    maxEvents: Type.Integer({
      minimum: 100,
      maximum: 1_000_000,
      default: 10_000,
      description: 'The maximum number of stored events.',
    }),
    retentionHours: Type.Number({
      exclusiveMinimum: 0,
      maximum: 8_760,
      default: 72,
      description: 'How long events are stored.',
    }),
    maxSubscribers: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 100,
      description: 'The maximum number of open event streams of this gateway.',
    }),
    maxSubscribersPerCaller: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 10,
      description: 'The maximum number of open event streams of one caller.',
    }),
    heartbeatSeconds: Type.Integer({
      minimum: 1,
      maximum: 300,
      default: 15,
      description: 'The time after which an idle event stream gets a comment.',
    }),
    slowSeconds: Type.Integer({
      minimum: 1,
      maximum: 600,
      default: 30,
      description: 'How long a subscriber may fail to read what was sent before it is disconnected.',
    }),
    recheckSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 60,
      description:
        'The time after which the credential of an idle subscriber is verified again. It is always verified before events are sent.',
    }),
    violations: Type.Boolean({
      default: true,
      description: 'Whether webhooks learn of new violations and of demotions.',
    }),
    secrets: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The folder with the secrets of the webhooks: `NAME.key` with one signing key (`whsec_…`) per line, and `NAME.url`.',
      }),
    ),
    allowPrivate: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
      default: [],
      maxItems: 50,
      description:
        'Private addresses and networks to which webhooks may be sent, such as `10.20.0.0/16`. All others are refused when the connection is opened.',
    }),
    webhooks: Type.Array(webhook, { default: [], maxItems: 20, description: 'Where events are sent.' }),
  },
  {
    additionalProperties: false,
    description: 'The change feed: events instead of polling; see docs/changes.md. Off unless the key is set.',
  },
);

/** The options under the `changes` configuration key, with all defaults filled in. Paths are absolute. */
export type ChangesOptions = Static<typeof options>;

/** A webhook as configured. */
export type WebhookOptions = ChangesOptions['webhooks'][number];
