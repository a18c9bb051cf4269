import type { ItemFacts } from '../contract/api-profile.ts';
import { type ResponseFindings, variantOf } from '../contract/compile/check-response.ts';
import type { Contract } from '../contract/load-contract.ts';
import { applicableRules, excerptOfRules, type SemanticRules } from '../contract/check-semantics.ts';
import { itemPlace, type ParameterValues } from '../contract/values.ts';
import type { Operation } from '../model/operation.ts';
import type { Scanner, ScannerModule, ScannerSource } from '../scanner/open-scanner.ts';
import { UnsupportedSchema } from '../scanner/merge-rules.ts';
import type { DecodedResponse } from './decoded-response.ts';

/** A response that a scan has proved to be valid. */
export interface ScannedResponse {
  /** The body, reduced to the members that are read in later steps. */
  readonly json: unknown;
  readonly findings: ResponseFindings;
  /** Whether the body may contain an absolute address. */
  readonly hasAddress: boolean;
}

/**
 * Scans a response. Returns `closer` if the scan could not prove that the response is valid, or undefined if there are
 * no tables for the response. In both cases, the response must be parsed.
 */
export type ScanResponse = (
  operation: Operation,
  parameters: ParameterValues,
  response: DecodedResponse,
) => ScannedResponse | 'closer' | undefined;

/** The parts of the contract that are needed for scans. */
type ScannedContract = Pick<Contract, 'operations' | 'validators' | 'schemas' | 'checkResponse' | 'semanticRules'>;

/**
 * Creates the function that scans successful responses. The tables for a response are compiled on first use, because
 * most gateways receive only some of the responses that the contract describes.
 */
export function createScanResponse(contract: ScannedContract, module: ScannerModule, items: ItemFacts): ScanResponse {
  const { schemas } = contract;
  const files = new Map(
    contract.operations.map(({ id }) => [
      id,
      new Map(contract.validators(id).successes.map((success) => [success.status, success.files])),
    ]),
  );
  /** The scanners, keyed by the schema's path and by the rules whose members they extract. */
  const scanners = new Map<string, Map<number, Scanner | undefined>>();

  const scannerOf = (operation: Operation, status: number, parameters: ParameterValues): Scanner | undefined => {
    const path = files.get(operation.id)?.get(status)?.[variantOf(parameters)];
    if (path === undefined) return undefined;
    const rules = applicableRules(contract.semanticRules, operation, parameters);
    const byRules = scanners.get(path) ?? new Map<number, Scanner | undefined>();
    if (!byRules.has(rules)) {
      const schema = { schema: schemas.get(path) ?? true, path };
      byRules.set(
        rules,
        compile(module, { schemas, schema, excerpt: excerptOf(contract.semanticRules, operation, rules, items) }),
      );
      scanners.set(path, byRules);
    }
    return byRules.get(rules);
  };

  return (operation, parameters, { status, mediaType, bytes }) => {
    // The `responses` check also detects fields that were not requested. An excerpt does not contain the names of such
    // fields, so the whole response must be parsed.
    const hasUnread = !parameters.details && (parameters.projection?.includeOnly.length ?? 0) > 0;
    const scanner = hasUnread ? undefined : scannerOf(operation, status, parameters);
    if (scanner === undefined || bytes.length === 0) return undefined;
    const scanned = scanner.scan(bytes);
    if (scanned === undefined) return 'closer';
    const { excerpt: json, differences, hasAddress } = scanned;
    const findings = contract.checkResponse(operation, parameters, {
      status,
      mediaType,
      json,
      bytes,
      scanned: differences,
    });
    // The whole body is needed to describe the violations in an invalid response.
    return findings.verdict === 'valid' ? { json, findings, hasAddress } : 'closer';
  };
}

/** Compiles a scanner. Returns undefined if the schema is not supported. */
function compile(module: ScannerModule, source: ScannerSource): Scanner | undefined {
  try {
    return module.compile(source);
  } catch (error) {
    if (error instanceof UnsupportedSchema) return undefined;
    throw error;
  }
}

/**
 * Returns the paths of the members that later steps read: page counts, tags, authors, errors and members used by the
 * given semantic rules.
 */
export function excerptOf(
  known: SemanticRules,
  operation: Operation,
  rules: number,
  items: ItemFacts,
): readonly string[] {
  const item = itemPlace(operation.itemsAt);
  const ids = [`${item}/id`, `${item}/${items.idOf(operation.itemsAt).join('/')}`];
  const authors = items.authorAt.map((pointer) => `${item}${pointer}`);
  return [
    '/pageCount',
    '/totalCount',
    ...operation.serverErrors.map(({ at }) => `/${at[0]}`),
    ...new Set(ids),
    ...authors,
    ...excerptOfRules(known, operation, rules),
  ];
}
