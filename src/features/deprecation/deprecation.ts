import { readStateFile } from '../../engine/config/state-files.ts';
import type { ConfigProblem } from '../../engine/config/settings.ts';
import type { Feature } from '../../engine/feature.ts';
import { createTraceSlot } from '../../engine/model/trace-slot.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { closestName } from '../../lib/closest-name.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { createAnnouncement } from './announce.ts';
import { type DeprecatedEntry, type Ending, endingAt, isoOf, readEntries, subjectOf } from './deprecated-entries.ts';
import { readDeprecationFile, type StoredDeprecation } from './deprecation-file.ts';
import { deprecationPage } from './deprecation-page.ts';
import { ACTIONS, createDeprecationRouter } from './deprecation-routes.ts';
import { createDeprecationStore, POINTER } from './deprecation-store.ts';
import { type DeprecationOptions, type EntryOptions, options } from './options.ts';
import { BROWNOUT, GONE, refuseDeprecated } from './refuse-deprecated.ts';
import { createPartsReader, type Requested } from './requested-parts.ts';
import type { UsageLimits } from './usage.ts';

const REQUESTS = {
  name: 'portico_deprecated_requests_total',
  type: 'counter',
  labels: ['operation'],
  help: 'Requests for something in deprecation.entries, whether or not they are refused. The metric exists only with deprecation.',
} as const;

const REFUSALS = {
  name: 'portico_deprecated_refusals_total',
  type: 'counter',
  labels: ['operation', 'reason', 'outcome'],
  help: 'Requests during a brown-out (reason brownout) or after the end (sunset) that were refused or, with the outcome reported, would be: in observe mode, with dryRun, or without refuseAfterSunset. The metric exists only with deprecation.',
} as const;

const SUNSET = {
  name: 'portico_deprecation_sunset_timestamp_seconds',
  type: 'gauge',
  labels: ['operation'],
  help: 'The earliest sunset of the operation or one of its parameters. The metric exists only with deprecation.',
} as const;

/** The place of what a request asks for in its trace. */
const REQUESTED = createTraceSlot<Requested>();
const NO_PARAMETERS: readonly string[] = [];

/** Announces what is deprecated, counts who still uses it, and refuses it in the end (docs/deprecation.md). */
export const deprecation = {
  name: 'deprecation',
  options,
  needsRestart: ['file'],
  files: { file: 'state' },
  errors: [BROWNOUT, GONE],
  metrics: [REQUESTS, REFUSALS, SUNSET],
  commands: [
    {
      name: 'deprecation',
      load: async (tools) => (await import('./deprecation-command.ts')).deprecationCommand(tools),
    },
  ],
  // A walk neither changes the running gateway's counts nor adds to them.
  forWalk: (given) => ({ ...given, file: IN_MEMORY }),
  check: ({ entries }) => entries.flatMap((entry, index) => entryProblems(entry, `/deprecation/entries/${index}`)),
  checkContract: ({ entries }, { operations }) =>
    entries.flatMap(({ operations: ids, parameter }, at) =>
      ids.flatMap((id, index): ConfigProblem[] => {
        const pointer = `/deprecation/entries/${at}`;
        const operation = operations.find((one) => one.id === id);
        if (operation === undefined) {
          const message = `${id.slice(0, 100)} is not an operation in the contract`;
          const known = operations.map((one) => one.id);
          return [withNear({ pointer: `${pointer}/operations/${index}`, message }, id, known)];
        }
        const names = operation.parameters.filter(({ location }) => location === 'query').map(({ name }) => name);
        if (parameter === undefined || names.includes(parameter)) return [];
        return [
          withNear(
            { pointer: `${pointer}/parameter`, message: `${parameter} is not a query parameter of ${id}` },
            parameter,
            names,
          ),
        ];
      }),
    ),
  warn: (given, { settings }) => entryWarnings(given, settings.mode.transparent, systemClock),
  auditRules: [
    {
      id: 'sunset-passed',
      severity: 'low',
      key: '/deprecation/entries',
      risk: 'The announced end has passed, but requests are still served, so clients learn to ignore such dates.',
      fix: 'Set refuseAfterSunset, or move sunset and tell the callers that portico deprecation lists.',
      find: ({ entries }, _settings, { now }) => entries.filter((one) => isOverdue(one, now)).map(subjectOf),
    },
  ],
  // The running gateway has newer counts than the file.
  prepare: ({ options: { file }, settings, earlier }) => ({
    value:
      earlier ??
      readStateFile(
        settings,
        { file, pointer: POINTER },
        { kind: 'deprecation file', start: 'without counts and revocations' },
        readDeprecationFile,
      ),
  }),
  dependsOn: ({ mode }) => mode.name,
  start(context) {
    const { options: given, settings, contract, operations, metrics, lasting, clock, prepared } = context;
    const { transparent } = settings.mode;
    const entries = readEntries(given.entries);
    const limits: UsageLimits = {
      ...given,
      isDeprecated: ({ operation, part, name }) =>
        part === 'parameter'
          ? entries.of(operation, [name]).some(({ parameter }) => parameter === name)
          : entries.of(operation, NO_PARAMETERS).length > 0,
    };
    const store = lasting(
      () => createDeprecationStore({ ...context, stored: prepared, file: given.file, limits }),
      (one) => one.close(),
    );
    const ids = operations.map(({ id }) => id);
    const countRequest = metrics.counter(REQUESTS, [ids]);
    const countRefusal = metrics.counter(REFUSALS, [ids, ['brownout', 'sunset'], ['refused', 'reported']]);
    metrics.read(SUNSET, () =>
      ids.flatMap((id) => {
        const own = entries.all.filter((one) => one.operations.includes(id));
        const sunset = Math.min(...own.map((one) => one.sunset ?? Infinity));
        return sunset === Infinity ? [] : [[[id], sunset / 1000]];
      }),
    );
    const requestedBy = createPartsReader(operations, contract.document);
    const announce = createAnnouncement(store.isRevoked);
    const routes = { store, entries, limits, clock };
    const isReported = ({ entry }: Ending) => transparent || entry.dryRun;
    return {
      stages: [refuseDeprecated({ entries, isRevoked: store.isRevoked, requestedBy })],
      open: store.open,
      use: () => store.configure(limits),
      messages: {
        request(trace, arrival) {
          if (trace.operation !== undefined) REQUESTED.set(trace, requestedBy(trace.operation, arrival));
        },
      },
      describe({ operation: { id } }, { arrival, trace }) {
        const found = entries.of(id, requestedBy(id, arrival).parameters);
        const ending = endingAt(found, trace.startedAt, store.isRevoked);
        return [
          ...found.map((entry) => ['deprecation', describeEntry(entry)] as const),
          ...(ending !== undefined && isReported(ending)
            ? [['deprecation', `would be refused now (${ending.reason}), but is only counted`] as const]
            : []),
        ];
      },
      addHeaders(trace, headers) {
        if (transparent || trace.operation === undefined) return;
        const parameters = REQUESTED.get(trace)?.parameters ?? NO_PARAMETERS;
        announce(entries.of(trace.operation, parameters), trace.startedAt, headers);
      },
      finished(trace) {
        const { operation, startedAt, error } = trace;
        if (operation === undefined || trace.background === true) return;
        const { parameters = NO_PARAMETERS, fields = NO_PARAMETERS } = REQUESTED.get(trace) ?? {};
        const caller = store.tags.of(trace);
        store.count({ operation, part: 'operation', name: '', caller }, startedAt);
        for (const name of parameters) store.count({ operation, part: 'parameter', name, caller }, startedAt);
        for (const name of fields) store.count({ operation, part: 'field', name, caller }, startedAt);
        const found = entries.of(operation, parameters);
        if (found.length === 0) return;
        countRequest(operation);
        if (error === BROWNOUT.code || error === GONE.code)
          countRefusal(operation, error === GONE.code ? 'sunset' : 'brownout', 'refused');
        else {
          const ending = endingAt(found, startedAt, store.isRevoked);
          const isOver = found.some(({ sunset }) => sunset !== undefined && sunset <= startedAt);
          // A request that was refused for another reason, such as its credential, is not counted.
          if (ending === undefined ? isOver : isReported(ending))
            countRefusal(operation, ending?.reason ?? 'sunset', 'reported');
        }
      },
      pages: [deprecationPage(routes)],
      adminRoutes: [
        {
          path: '/deprecation',
          access: 'operator',
          handler: createDeprecationRouter(routes),
          actions: ACTIONS,
          words: ['caller'],
        },
      ],
    };
  },
} as const satisfies Feature<typeof options, StoredDeprecation>;

/** Describes an entry in a line. */
function describeEntry(entry: DeprecatedEntry): string {
  const { since, sunset, refuseAfterSunset, brownouts, successor } = entry;
  const end =
    sunset === undefined ? '' : `, ${refuseAfterSunset ? 'refused with 410 from' : 'sunset'} ${isoOf(sunset)}`;
  const pauses = brownouts.length === 0 ? '' : `, ${brownouts.length} brown-out${brownouts.length === 1 ? '' : 's'}`;
  const instead = successor === undefined ? '' : `, successor ${successor}`;
  return `${subjectOf(entry)}: since ${isoOf(since)}${end}${pauses}${instead}`;
}

function withNear(problem: ConfigProblem, name: string, known: readonly string[]): ConfigProblem {
  const near = closestName(name, known);
  return near === undefined ? problem : { ...problem, suggestion: `did you mean ${near}?` };
}

/** Returns the instants in an entry that do not exist, are in the wrong order, or are missing. */
function entryProblems(entry: EntryOptions, pointer: string): readonly ConfigProblem[] {
  const { since, sunset, refuseAfterSunset, brownouts } = entry;
  const given = [
    { key: 'since', text: since },
    ...(sunset === undefined ? [] : [{ key: 'sunset', text: sunset }]),
    ...brownouts.flatMap(({ from, to }, index) => [
      { key: `brownouts/${index}/from`, text: from },
      { key: `brownouts/${index}/to`, text: to },
    ]),
  ];
  const unknown = given.filter(({ text }) => !isInstant(text));
  if (unknown.length > 0)
    return unknown.map(({ key }) => ({
      pointer: `${pointer}/${key}`,
      message: 'is not an instant that exists',
      suggestion: 'write it as 2026-05-04T10:00Z',
    }));
  const end = sunset === undefined ? undefined : Date.parse(sunset);
  return [
    ...(end !== undefined && end < Date.parse(since)
      ? [{ pointer: `${pointer}/sunset`, other: `${pointer}/since`, message: 'is earlier than since' }]
      : []),
    ...(refuseAfterSunset && end === undefined
      ? [{ pointer: `${pointer}/refuseAfterSunset`, message: 'needs a date', suggestion: 'set sunset' }]
      : []),
    ...brownouts.flatMap(({ from, to }, index) => {
      const at = `${pointer}/brownouts/${index}`;
      if (Date.parse(from) < Date.parse(since))
        return [{ pointer: `${at}/from`, other: `${pointer}/since`, message: 'is earlier than since' }];
      if (Date.parse(to) > Date.parse(from)) return [];
      return [{ pointer: `${at}/to`, other: `${at}/from`, message: 'must be later than from' }];
    }),
  ];
}

/** Returns whether a text in the form of an instant is one. `Date` alone takes February 30 for a day in March. */
function isInstant(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day) && !Number.isNaN(Date.parse(text));
}

const isOverdue = ({ sunset, refuseAfterSunset }: EntryOptions, now: number) =>
  sunset !== undefined && !refuseAfterSunset && Date.parse(sunset) <= now;

function entryWarnings({ entries }: DeprecationOptions, transparent: boolean, clock: Clock) {
  const now = clock();
  return entries.flatMap((entry, index) => {
    const pointer = `/deprecation/entries/${index}`;
    const end = entry.refuseAfterSunset && entry.sunset !== undefined ? Date.parse(entry.sunset) : Infinity;
    return [
      ...(isOverdue(entry, now)
        ? [
            {
              pointer: `${pointer}/sunset`,
              message: 'is in the past, but requests are still served: set refuseAfterSunset',
            },
          ]
        : []),
      ...(transparent && (entry.refuseAfterSunset || entry.brownouts.length > 0)
        ? [{ pointer, because: 'observe mode announces and refuses nothing: usage is only counted' }]
        : []),
      ...entry.brownouts.flatMap(({ from }, at) =>
        Date.parse(from) >= end
          ? [
              {
                pointer: `${pointer}/brownouts/${at}`,
                because: 'it begins after sunset, when requests are refused anyway',
              },
            ]
          : [],
      ),
    ];
  });
}
