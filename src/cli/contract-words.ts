import type { ContractOptions } from '../contract/contract-options.ts';

/** What is applied to the contract and runs beside it, in a few words each; none for the contract as it is. */
export function contractWords({ overlays, candidate }: ContractOptions): string[] {
  return [
    ...overlayWords(overlays),
    ...(candidate === undefined ? [] : [['candidate beside it', ...overlayWords(candidate.overlays)].join(' with ')]),
  ];
}

function overlayWords(overlays: readonly string[]): string[] {
  if (overlays.length === 0) return [];
  return [overlays.length === 1 ? '1 overlay' : `${overlays.length} overlays`];
}
