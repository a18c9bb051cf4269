import { resolve } from 'node:path';
import type { PlainObject } from '../../lib/plain-object.ts';
import type { ContractRules } from './rules.ts';

/** The options under the `contract` configuration key, with all defaults filled in. */
export interface ContractOptions {
  /** The rules that the contract can name. */
  readonly rules: ContractRules;
  /** The folder that contains `openapi.yaml` and the files generated from it. Defaults to Portico's own folder. */
  readonly folder?: string;
  /** The absolute paths of the OpenAPI Overlay documents, in the order in which they are applied. */
  readonly overlays: readonly string[];
  /** True if the contract includes the inferred operations (docs/provenance.md). */
  readonly inferred: boolean;
  /**
   * The query parameters that are accepted in addition to the documented ones, by operationId. Unknown operationIds are
   * reported elsewhere.
   */
  readonly allowedParameters: Readonly<Record<string, readonly string[]>>;
  /** The maximum number of violations to collect for one message. */
  readonly maxCollected: number;
  /** True if the scanner is used. It can prove most responses valid from their bytes, without parsing them. */
  readonly scanner: boolean;
}

/** The default contract options. */
export const CONTRACT_DEFAULTS: Omit<ContractOptions, 'rules'> = {
  overlays: [],
  inferred: true,
  allowedParameters: {},
  maxCollected: 20,
  scanner: true,
};

/** The JSON Schema for the `contract` configuration key. The `parameters.allow` key has its own schema. */
export const contractOptionsSchema = {
  type: 'object',
  description: 'The contract and its overlays.',
  additionalProperties: false,
  properties: {
    folder: {
      type: 'string',
      minLength: 1,
      description:
        'Folder with `openapi.yaml` and `vendor-extensions.schema.json`, relative to the configuration file.',
    },
    overlays: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'OpenAPI Overlay 1.0 documents applied to the contract in this order, relative to the configuration file.',
    },
    inferred: {
      // `on` and `off` are booleans in YAML 1.1, which some editors still use.
      enum: ['on', 'off', true, false],
      description: 'Whether the operations that are only inferred are part of the contract: `on` or `off`.',
    },
    maxCollected: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: 'The maximum number of violations collected for one message.',
    },
    scanner: {
      enum: ['on', 'off', true, false],
      description:
        'Whether the bytes of responses are scanned, so that most valid responses need not be parsed (docs/adr/0028-response-scanner.md): `on` or `off`. Verdicts and reports stay the same. Not used while traffic is sampled or compared with a shadow contract.',
    },
  },
};

/**
 * Converts the `contract` configuration key to options, with all defaults filled in. By default, the contract includes
 * the inferred operations only if the embedded upstream is used.
 */
export function toContractOptions(
  config: PlainObject,
  place: { readonly embedded: boolean; readonly folder: string; readonly rules: ContractRules },
  allowedParameters: ContractOptions['allowedParameters'],
): ContractOptions {
  const { inferred, maxCollected, scanner } = config;
  return {
    rules: place.rules,
    ...documents(config, place.folder),
    inferred: inferred === undefined ? place.embedded : inferred === 'on' || inferred === true,
    allowedParameters,
    maxCollected: typeof maxCollected === 'number' ? maxCollected : CONTRACT_DEFAULTS.maxCollected,
    scanner: scanner === undefined ? CONTRACT_DEFAULTS.scanner : scanner === 'on' || scanner === true,
  };
}

function documents({ folder, overlays }: PlainObject, base: string): Pick<ContractOptions, 'folder' | 'overlays'> {
  return {
    ...(typeof folder === 'string' && { folder: resolve(base, folder) }),
    overlays: Array.isArray(overlays) ? overlays.map((file) => resolve(base, String(file))) : [],
  };
}
