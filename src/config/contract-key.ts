import { resolve } from 'node:path';
import { CONTRACT_DEFAULTS, contractOptionsSchema, type ContractOptions } from '../contract/contract-options.ts';
import { isPlainObject, type PlainObject } from '../lib/plain-object.ts';

/** The JSON Schema for the `contract` configuration key. The `parameters.allow` key has its own schema. */
export const contractKeySchema = {
  type: 'object',
  description: 'The contract and its overlays.',
  additionalProperties: false,
  properties: {
    folder: contractOptionsSchema.properties.folder,
    overlays: contractOptionsSchema.properties.overlays,
    candidate: contractOptionsSchema.properties.candidate,
    baseline: contractOptionsSchema.properties.baseline,
    inferred: {
      // `on` and `off` are booleans in YAML 1.1, which some editors still use.
      enum: ['on', 'off', true, false],
      description:
        'The two comment writes, which are inferred; on with the reference server, off with a real upstream.',
    },
    maxCollected: contractOptionsSchema.properties.maxCollected,
    scanner: {
      enum: ['on', 'off', true, false],
      description: 'Whether the bytes of responses are scanned, so that most valid responses need not be parsed.',
    },
  },
};

/**
 * Converts the `contract` configuration key to options with all defaults. By default, the inferred operations are part
 * of the contract only if the embedded upstream is used.
 */
export function toContractOptions(
  config: PlainObject,
  place: { readonly embedded: boolean; readonly folder: string },
  allowedParameters: ContractOptions['allowedParameters'],
): ContractOptions {
  const { inferred, maxCollected, baseline, candidate, scanner } = config;
  return {
    ...documents(config, place.folder),
    ...(isPlainObject(candidate) && {
      candidate: { ...documents(config, place.folder), ...documents(candidate, place.folder) },
    }),
    ...(typeof baseline === 'string' && { baseline: resolve(place.folder, baseline) }),
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
