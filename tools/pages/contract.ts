import { loadContract } from '../../src/engine/contract/load-contract.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';
import { PROFILE } from '../../src/profile.ts';
import { code, table } from './markdown.ts';

const { operations } = loadContract(CONTRACT_DEFAULTS);

const INFERRED = '—';

/** Returns a table of all operations of the contract. */
export function operationList(): string {
  return table(
    ['number', 'operation id', 'request', 'purpose'],
    operations.map(({ row, id, method, path, summary }) => [
      String(row ?? INFERRED),
      code(id),
      code(`${method} ${path}`),
      summary,
    ]),
  );
}

/** Returns a table of the rules about responses, with the operations that name them. */
export const semanticRules = (): string =>
  ruleTable(PROFILE.semanticRules, (name) => operations.filter((one) => one.semanticRules.includes(name)));

/** Returns a table of the rules about request bodies, with the operations that name them. */
export const requestRules = (): string =>
  ruleTable(PROFILE.requestRules, (name) => operations.filter((one) => one.requestRules.includes(name)));

function ruleTable(
  rules: readonly { readonly name: string; readonly description: string }[],
  operationsOf: (name: string) => typeof operations,
): string {
  return table(
    ['rule', 'operations', 'condition'],
    rules.map(({ name, description }) => [code(name), numbers(operationsOf(name)), description]),
  );
}

// The inferred operations have no numbers.
function numbers(found: typeof operations): string {
  const rows = found.flatMap(({ row }) => row ?? []).map(String);
  return [...rows, ...(found.length > rows.length ? ['comment writes'] : [])].join(', ');
}
