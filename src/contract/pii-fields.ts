import type { Contract } from './contract.ts';

/** Names of the fields that hold personal data, sorted, each once: what no log line may carry. */
export function piiFields(contract: Pick<Contract, 'personalFields'>): readonly string[] {
  return [...new Set(contract.personalFields.map((field) => field.name))].toSorted();
}
