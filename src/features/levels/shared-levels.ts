import type { SharedDocument, Sharing } from '../../engine/sharing/sharing.ts';
import { formatFormerLadder, formatFormerOverrides, parseFormerLadder, parseFormerOverrides } from './former-files.ts';
import { inOrder, isOfLadder, isOverride, type LevelsState, mergeLevels } from './level-entry.ts';
import { NO_LEVELS, type LevelStore } from './level-store.ts';
import { formatLevels, parseLevels } from './levels-file.ts';

/** The document through which gateways share the levels. */
export const LEVELS_DOCUMENT = { name: 'levels', version: '', format: formatLevels, parse: parseLevels };

interface DocumentEvents {
  /** How long a turn lasts, in milliseconds. */
  readonly turnMs: number;
  /** Called before the state is replaced with what other gateways have changed. */
  readonly onAdopted: (before: LevelsState, after: LevelsState) => void;
}

/** The documents through which gateways share the levels. */
export type SharedLevels = Pick<SharedDocument<LevelsState>, 'start' | 'sync' | 'takeTurn'>;

/** Opens the document, and the two documents of earlier versions, which are kept up to date. */
export function openDocuments(
  store: LevelStore,
  { openDocument }: Pick<Sharing, 'openDocument'>,
  { turnMs, onAdopted }: DocumentEvents,
): SharedLevels {
  const adopt = (next: LevelsState) => {
    onAdopted(store.state(), next);
    store.adopt(next);
  };
  const levels = openDocument<LevelsState>(LEVELS_DOCUMENT.name, {
    current: store.state,
    adopt,
    merge: mergeLevels,
    empty: () => NO_LEVELS,
    format: formatLevels,
    parse: parseLevels,
    turnMs,
  });
  // Gateways of earlier versions in the same fleet read and change only these documents, so every change passes through
  // both. Each is merged as a part of the state: the decisions under the contract in use, and the overrides.
  const ladder = openDocument<LevelsState>('ladder', {
    current: () => ({ contracts: [store.contract()], entries: store.decisions() }),
    adopt: (next) =>
      adopt(withPart(store.state(), next, (entry) => isOfLadder(entry) && entry.contract === contractOf(next))),
    merge: mergeLevels,
    versionOf: contractOf,
    empty: ({ contracts }) => ({ contracts, entries: [] }),
    format: formatFormerLadder,
    parse: parseFormerLadder,
  });
  const overrides = openDocument<LevelsState>('overrides', {
    current: () => ({ contracts: [], entries: store.overrides() }),
    adopt: (next) => adopt(withPart(store.state(), next, isOverride)),
    merge: mergeLevels,
    empty: () => NO_LEVELS,
    format: ({ entries }) => formatFormerOverrides(entries),
    parse: (text) => ({ contracts: [], entries: parseFormerOverrides(text) }),
  });
  return {
    async start() {
      await Promise.all([levels.start(), ladder.start(), overrides.start()]);
    },
    async sync() {
      const [isShared] = await Promise.all([levels.sync(), ladder.sync(), overrides.sync()]);
      return isShared;
    },
    takeTurn: levels.takeTurn,
  };
}

const contractOf = ({ contracts }: LevelsState): string => contracts[0]?.contract ?? '';

/** Returns the state with a part of its entries replaced. */
function withPart(state: LevelsState, part: LevelsState, isPart: (entry: LevelsState['entries'][number]) => boolean) {
  const own = new Set(part.contracts.map(({ contract }) => contract));
  return {
    contracts: [...state.contracts.filter(({ contract }) => !own.has(contract)), ...part.contracts],
    entries: inOrder([...state.entries.filter((entry) => !isPart(entry)), ...part.entries]),
  };
}
