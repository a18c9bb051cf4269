import { type ResponseFindings, variantOf } from '../contract/compile/check-response.ts';
import type { Contract } from '../contract/contract.ts';
import type { ResponseVariant } from '../contract/contract-files.ts';
import { excerptOfRules } from '../contract/semantic-rules.ts';
import { itemPlace, type ParameterValues } from '../contract/values.ts';
import type { Operation } from '../model/operation.ts';
import type { Scanner, ScannerModule } from '../scanner/open-scanner.ts';
import { UnsupportedSchema } from '../scanner/unsupported-schema.ts';
import type { DecodedResponse } from './known-bodies.ts';

/** A response that a scan has proved valid. */
export interface ScannedResponse {
  /** The body, reduced to the members that later steps read. */
  readonly json: unknown;
  readonly findings: ResponseFindings;
  /** False if the body does not contain an absolute address. */
  readonly hasAddress: boolean;
}

/**
 * Scans a response. Returns `closer` if the scan does not prove that the response is valid, or undefined if the scan
 * has no tables for it. In both cases, the response must be parsed.
 */
export type ScanResponse = (
  operation: Operation,
  parameters: ParameterValues,
  response: DecodedResponse,
) => ScannedResponse | 'closer' | undefined;

/** The parts of the contract that a scan needs. */
type ScannedContract = Pick<Contract, 'operations' | 'validators' | 'schemas' | 'checkResponse'>;

type ScannersByVariant = Partial<Record<ResponseVariant, Scanner>>;

/** Compiles scan tables for all success responses, except those whose schema the scanner does not support. */
export function createScanResponse(contract: ScannedContract, module: ScannerModule): ScanResponse {
  const { schemas } = contract;
  const scanners = new Map<string, Map<number, ScannersByVariant>>();
  for (const operation of contract.operations) {
    const excerpt = excerptOf(operation);
    const compile = (path: string): Scanner | undefined => {
      try {
        return module.compile({ schemas, schema: { schema: schemas.get(path) ?? true, path }, excerpt });
      } catch (error) {
        if (error instanceof UnsupportedSchema) return undefined;
        throw error;
      }
    };
    const byStatus = new Map(
      contract.validators(operation.id).successes.map(({ status, files }) => [status, compileVariants(files, compile)]),
    );
    scanners.set(operation.id, byStatus);
  }

  return (operation, parameters, { status, mediaType, bytes }) => {
    // The check looks for the names of fields that the request did not ask for, which an excerpt does not contain.
    const hasUnread = !parameters.details && (parameters.projection?.includeOnly.length ?? 0) > 0;
    const scanner = hasUnread ? undefined : scanners.get(operation.id)?.get(status)?.[variantOf(parameters)];
    if (scanner === undefined || bytes.length === 0) return undefined;
    const scanned = scanner.scan(bytes);
    if (scanned === undefined) return 'closer';
    const { excerpt: json, undocumented, hasAddress } = scanned;
    const findings = contract.checkResponse(operation, parameters, {
      status,
      mediaType,
      json,
      scanned: { undocumented },
    });
    // Describing any other violation requires the whole body.
    return findings.verdict === 'valid' ? { json, findings, hasAddress } : 'closer';
  };
}

function compileVariants(
  files: Readonly<Record<ResponseVariant, string>>,
  compile: (path: string) => Scanner | undefined,
): ScannersByVariant {
  const compiled = new Map([...new Set(Object.values(files))].map((path) => [path, compile(path)]));
  const found = Object.entries(files).map(([variant, path]) => [variant, compiled.get(path)]);
  return Object.fromEntries(found) as ScannersByVariant;
}

/**
 * Returns the paths of the members that later steps read: page counts, tags, authors, errors and members used by
 * semantic rules.
 */
export function excerptOf(operation: Operation): readonly string[] {
  const item = itemPlace(operation.itemsAt);
  const ids = operation.itemsAt === 'actions' ? [`${item}/id`, `${item}/node/id`] : [`${item}/id`];
  const authors = [`${item}/activeRevisionId`, `${item}/author/username`];
  return ['/pageCount', '/totalCount', '/error', '/errors', ...ids, ...authors, ...excerptOfRules(operation)];
}
