import { operationFaults, redactionFaults } from '../config/cross-faults.ts';
import type { Place, Settings } from '../config/settings.ts';
import type { ContractOptions } from '../contract/contract-options.ts';
import type { Contract } from '../contract/contract.ts';
import { loadContract } from '../contract/load-contract.ts';
import type { LadderState } from '../ladder/ladder-step.ts';
import { type BaselineFile, openBaselineFile } from '../ledger/baseline/baseline-file.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import type { Operation } from '../model/operation.ts';
import { parseUpstreamUrl, type UpstreamAddress } from '../upstream/upstream-url.ts';
import { compilePermissionMessage, type PermissionMessage } from '../upstream/permission-message.ts';
import { serviceAuthorization } from '../upstream/service-authorization.ts';
import { keptLadder } from './assemble-ladder.ts';
import { type LearnedBefore, loadLearned } from './learning.ts';
import { type LoadedPermissions, loadPermissions, readRoles } from './load-permissions.ts';

/** Everything that is read and compiled before a service is made. */
export interface Start extends LoadedPermissions {
  readonly contract: Contract;
  /** The contract that only reports; undefined where none is configured. */
  readonly candidate: Contract | undefined;
  /** What is odd about both and no reason not to start. */
  readonly warnings: readonly Fault[];
  readonly address: UpstreamAddress;
  readonly isPermissionMessage: PermissionMessage;
  /** The `Authorization` of the service account; undefined when credentials are forwarded. */
  readonly serviceAuthorization: string | undefined;
  /** Violations that are accepted; undefined where no file is configured. */
  readonly baseline: BaselineFile | undefined;
  /** What was kept of the ladder; undefined where there is nothing yet. */
  readonly ladder: LadderState | undefined;
  /** What was learned before; undefined where nothing is learned from traffic. */
  readonly learned: LearnedBefore | undefined;
}

/** Loads contract, rules and upstream settings; throws StartFault with the faults of all of them together. */
export function loadStart(settings: Settings, env: Readonly<Record<string, string | undefined>>): Start {
  const faults: Fault[] = [];
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const contract = attempt(() => loadContract(settings.contract));
  const candidate = attempt(() => ({ contract: loadCandidate(settings.contract) }));
  // Names of operations are judged here, where their place in the configuration is known.
  const ids = contract?.operations.map(({ id }) => id);
  if (ids !== undefined) faults.push(...operationFaults(settings, ids));
  if (contract !== undefined) faults.push(...redactionFaults(settings, contract.operations));
  const rules = attempt(() => (contract ? loadPermissions(settings, contract) : void readRoles(settings)));
  const address = attempt(() => addressOf(settings));
  const service = attempt(() => serviceOf(settings, env));
  const baseline = attempt(() => baselineOf(settings));
  const isPermissionMessage = attempt(() => permissionMessageOf(settings));
  const ladder = attempt(() => keptLadder(settings));
  const learned = attempt(() => ({ before: loadLearned(settings) }));
  if (faults.length > 0) throw new StartFault(faults);
  if (!contract || !rules || !address || !service || !isPermissionMessage || !learned || !candidate)
    throw new StartFault([]);
  return {
    contract,
    candidate: candidate.contract,
    warnings: [
      ...contract.warnings,
      ...candidateWarnings(contract, candidate.contract, settings.placeOf('/contract/candidate')),
    ],
    ...rules,
    address,
    isPermissionMessage,
    serviceAuthorization: service.authorization,
    baseline,
    ladder,
    learned: learned.before,
  };
}

function baselineOf({ contract, placeOf }: Settings): BaselineFile | undefined {
  const { baseline } = contract;
  return baseline === undefined ? undefined : openBaselineFile(baseline, placeOf('/contract/baseline'));
}

function addressOf({ upstream, placeOf }: Settings): UpstreamAddress {
  const parsed = parseUpstreamUrl(upstream.url ?? '', placeOf('/upstream/url'));
  if ('faults' in parsed) throw new StartFault(parsed.faults);
  return parsed.address;
}

function serviceOf({ upstream, placeOf }: Settings, env: Readonly<Record<string, string | undefined>>) {
  const service = serviceAuthorization(upstream.credentials, env);
  if ('fault' in service) throw new StartFault([{ ...placeOf('/upstream/credentials'), message: service.fault }]);
  return service;
}

function permissionMessageOf({ upstream, placeOf }: Settings): PermissionMessage {
  try {
    return compilePermissionMessage(upstream.permissionMessages);
  } catch {
    const place = placeOf('/upstream/permissionMessages');
    throw new StartFault([{ ...place, message: 'holds an expression that cannot be compiled' }]);
  }
}

// So much that a page full of known differences hides none of the candidate's own.
const MAX_COLLECTED = 1000;

/** Compiles the candidate contract, where one is configured; throws a StartFault whose faults say that they are its. */
export function loadCandidate({ candidate, ...contract }: ContractOptions): Contract | undefined {
  if (candidate === undefined) return undefined;
  try {
    const { folder = contract.folder, overlays } = candidate;
    return loadContract({
      ...contract,
      ...(folder !== undefined && { folder }),
      overlays,
      maxCollected: MAX_COLLECTED,
    });
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    throw new StartFault(
      error.faults.map(({ message, ...fault }) =>
        Object.assign(fault, { message: `the candidate contract: ${message}` }),
      ),
    );
  }
}

/** What of an operation no traffic is compared by, by the name that it has in the document. */
const NOT_COMPARED = {
  'x-requires': ({ requires }: Operation) => requires,
  'x-credential': ({ needsCredential }: Operation) => needsCredential,
  'x-paging': ({ paging }: Operation) => paging,
  'x-request-rules': ({ requestRules }: Operation) => requestRules,
} as const;

/** What is odd about a candidate and no reason not to start: targets that select nothing, and changes that no report will show. */
export function candidateWarnings(
  live: Contract,
  candidate: Contract | undefined,
  { source, pointer }: Place,
): Fault[] {
  if (candidate === undefined) return [];
  const known = new Map(live.operations.map((operation) => [nameOf(operation), operation]));
  const changed = candidate.operations.flatMap((next) => {
    const operation = known.get(nameOf(next));
    if (operation === undefined) return [];
    const names = Object.entries(NOT_COMPARED).flatMap(([name, of]) => (same(of(operation), of(next)) ? [] : [name]));
    return names.length === 0 ? [] : [`${names.join(', ')} of ${next.id}`];
  });
  return [
    ...candidate.warnings.map((warning) => ({ ...warning, message: `the candidate contract: ${warning.message}` })),
    ...changed.map((what) => ({
      source,
      pointer,
      message: `the candidate changes ${what}, which traffic is not compared by`,
    })),
  ];
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
