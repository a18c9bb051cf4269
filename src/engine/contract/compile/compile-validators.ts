import { mediaTypeOf, SEVERAL_TYPES } from '../../model/header-pairs.ts';
import type { Provenance } from '../../model/operation.ts';
import type { ScannedDifferences, Violation } from '../../model/violation.ts';
import { requestFile, responseFile, type ResponseVariant } from '../contract-files.ts';
import { compileFieldShape } from '../explain/compile-field-shape.ts';
import {
  createDescribeFound,
  type DescribeFound,
  oneCause,
  type SchemaPlace,
  toViolations,
} from '../explain/schema-violation.ts';
import {
  expectationViolation,
  findUnknownFields,
  findUnmetExpectations,
  type UnknownField,
  unknownFieldViolation,
  type UnmetExpectation,
  unmetExpectationsAt,
} from '../explain/advisories.ts';
import {
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  resolve,
  type ResponseObject,
} from '../openapi-document.ts';
import { ofFirstKinds, responseViolation } from '../violations.ts';
import type { CompiledSchema, SchemaStore } from './schema-store.ts';

const REQUEST = { check: 'requests', direction: 'request', location: 'body' } as const;
const RESPONSE = { check: 'responses', direction: 'response', location: 'body' } as const;

/**
 * Compiles all of an operation's schemas. If a schema cannot be compiled, the error is added to the store's `faults`.
 */
export function compileValidators(
  document: OpenApiDocument,
  operation: OperationObject,
  store: SchemaStore,
  options: Pick<CheckOptions, 'describe' | 'max'>,
): OperationValidators {
  const id = operation.operationId;
  const check = (file: string, place: SchemaPlace) =>
    toSchemaCheck(store.compile(file), place, { ...options, unknownFields: true });
  const request = operation.requestBody ? check(requestFile(id), REQUEST) : () => [];
  const responses = new Map<string, DocumentedResponse>();
  const successes: SuccessSchema[] = [];
  const projects = (operation.parameters ?? []).some(
    (place) => resolve<ParameterObject>(document, 'parameters', place).name === 'includeOnly',
  );
  for (const [status, place] of Object.entries(operation.responses)) {
    const response = resolve<ResponseObject>(document, 'responses', place);
    const { content, 'x-may-be-empty': mayBeEmpty = false, 'x-provenance': provenance } = response;
    const media = content['application/json'];
    const success = status.startsWith('2');
    const files = {
      full: responseFile(id, status, 'full'),
      projected: responseFile(id, status, projects && success ? 'projected' : 'full'),
      open: responseFile(id, status, media?.['x-variants'] ? 'open' : 'full'),
    };
    const full = check(files.full, RESPONSE);
    const projected = files.projected === files.full ? full : check(files.projected, RESPONSE);
    const open = files.open === files.full ? full : check(files.open, RESPONSE);
    responses.set(status, { full, projected, open, mayBeEmpty, provenance });
    if (success) successes.push({ status: Number(status), files });
  }
  const isInferred = (status: number) =>
    UNCONFIRMED.has(responses.get(String(status))?.provenance ?? operation['x-provenance']);
  return { request, response: (head) => toResponseCheck(responses, head), isInferred, successes };
}

const UNCONFIRMED: ReadonlySet<Provenance> = new Set(['inferred', 'not shown']);

/** The checks for responses with a particular documented status. */
interface DocumentedResponse extends Readonly<Record<ResponseVariant, SchemaCheck>> {
  readonly mayBeEmpty: boolean;
  readonly provenance: Provenance;
}

function toResponseCheck(responses: ReadonlyMap<string, DocumentedResponse>, head: ResponseHead): SchemaCheck {
  const { status, variant } = head;
  const documented = responses.get(String(status)) ?? (status >= 400 ? responses.get('default') : undefined);
  if (!documented) {
    const message = 'the status is not documented for this operation';
    return () => [responseViolation('protocol', 'status', '', 'status', message)];
  }
  if (documented.mayBeEmpty && head.isEmpty === true) return () => [];
  const media = checkMedia(head.mediaType);
  return (json, scanned) => {
    if (media.length > 0) return [...media];
    if (json !== undefined || scanned !== undefined) return documented[variant](json, scanned);
    return [responseViolation('protocol', 'body', '', 'json', 'the body must be well-formed JSON')];
  };
}

function checkMedia(mediaType: string | undefined): readonly Violation[] {
  const essence = mediaType === undefined ? undefined : mediaTypeOf(mediaType);
  if (essence === 'application/json') return [];
  const html = essence === 'text/html';
  const message = html ? 'the response must be JSON, not an HTML page' : 'the content type must be application/json';
  const violation = responseViolation('protocol', 'header', 'content-type', html ? 'html' : 'content-type', message);
  return [{ ...violation, found: describeMediaType(essence) }];
}

const COMMON_TYPES: ReadonlySet<string> = new Set(
  'text/html text/plain text/xml text/csv application/xml application/xhtml+xml application/octet-stream'.split(' '),
);

/** Describes a message's content type. Only common media types are named, because the header can contain any text. */
function describeMediaType(essence: string | undefined): string {
  if (essence === undefined || essence === '') return 'no content type';
  if (essence === SEVERAL_TYPES) return 'several content types';
  return COMMON_TYPES.has(essence) ? essence : 'another content type';
}

/** The properties of a response that determine which check applies. */
interface ResponseHead {
  readonly status: number;
  /** The value of the `Content-Type` header, including parameters. Undefined if the response has no such header. */
  readonly mediaType: string | undefined;
  /** True if the response has no body. */
  readonly isEmpty?: boolean;
  readonly variant: ResponseVariant;
}

/** The compiled checks of an operation. */
export interface OperationValidators {
  /** Checks a parsed request body and returns its violations. */
  readonly request: (value: unknown) => readonly Violation[];
  /**
   * Checks a response's status and content type, and returns a check for the parsed body. The returned check receives
   * `undefined` if the body is not JSON.
   */
  readonly response: (head: ResponseHead) => SchemaCheck;
  /**
   * Returns whether a success status and its body were only inferred or are not shown. A status that is not documented
   * has the provenance of its operation.
   */
  readonly isInferred: (status: number) => boolean;
  /** The schemas of the successful responses. */
  readonly successes: readonly SuccessSchema[];
}

/** The paths of the schemas for one successful status. */
interface SuccessSchema {
  readonly status: number;
  readonly files: Readonly<Record<ResponseVariant, string>>;
}

/**
 * Checks a value against a compiled schema and returns the violations, followed by the advisories. If `scanned` is
 * defined, the value itself is not read, because a scan has already proved that it satisfies the schema and has
 * collected the differences that cause advisories.
 */
type SchemaCheck = (value: unknown, scanned?: ScannedDifferences) => readonly Violation[];

interface CheckOptions {
  /** True if undocumented fields are reported. They never make a value invalid. */
  readonly unknownFields?: boolean;
  /** Describes the value that a violation is about. */
  readonly describe?: DescribeFound;
  /**
   * The maximum number of errors, and of undocumented fields, to report. For responses, the maximum applies to kinds of
   * errors rather than to individual errors.
   */
  readonly max?: number;
}

const NONE: readonly Violation[] = [];

/** The default for `max`, which is also the highest configurable value. */
const MAX_ERRORS = 1000;

/**
 * Creates a check from a compiled schema. Nearly every value is valid, so the first validation stops at the first
 * error. An invalid value is validated a second time to explain all of its errors.
 */
export function toSchemaCheck(
  compiled: CompiledSchema | undefined,
  place: SchemaPlace,
  { unknownFields = false, describe = createDescribeFound(new Set()), max = MAX_ERRORS }: CheckOptions = {},
): SchemaCheck {
  if (!compiled) return () => [];
  const { accepts, explain, file, files } = compiled;
  const shape = unknownFields ? compileFieldShape(files, file) : undefined;
  const unknownIn = (value: unknown) => (shape === undefined ? [] : findUnknownFields(shape, value, max));
  const advisories = (unknown: readonly UnknownField[], unmet: readonly UnmetExpectation[]) => [
    ...unknown.map((field) => unknownFieldViolation(field, place)),
    ...unmet.map((one) => expectationViolation(one, place, files, describe)),
  ];
  // The scanner returns the same object for all responses with the same differences, so the advisories are cached per
  // object.
  const known = new WeakMap<ScannedDifferences, readonly Violation[]>();
  const checkScanned = (scanned: ScannedDifferences): readonly Violation[] => {
    const { undocumented, departures } = scanned;
    if (undocumented === undefined && departures.length === 0) return NONE;
    let found = known.get(scanned);
    if (found === undefined) {
      found = advisories(unknownIn(undocumented), unmetExpectationsAt(shape, departures));
      known.set(scanned, found);
    }
    return found;
  };
  return (value, scanned) => {
    if (scanned !== undefined) return checkScanned(scanned);
    const unknown = unknownIn(value);
    // Requests are not checked against expectations, because expectations apply only to the upstream's responses.
    const unmet = place.direction === 'request' ? [] : findUnmetExpectations(shape, value);
    if (accepts(value)) return advisories(unknown, unmet);
    const causes = oneCause(shape, value, explain(value));
    // A client needs to see every error that it has to fix. In a response, an error that occurs in every item is
    // reported only once.
    const selected = place.direction === 'request' ? causes.errors.slice(0, max) : ofFirstKinds(causes.errors, max);
    return [
      ...toViolations(selected, place, (at, keyword) => describe(value, at, keyword)),
      ...advisories(
        unknown.filter(({ within }) => causes.isClear(within)),
        unmet.filter(({ within }) => causes.isClear(within)),
      ),
    ];
  };
}
