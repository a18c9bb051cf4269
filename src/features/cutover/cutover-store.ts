import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { createStateWriter } from '../../engine/config/state-writer.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseState } from '../../lib/state-file.ts';
import { type StoredCutover, writeCutoverFile } from './cutover-file.ts';
import {
  type CutoverState,
  type Decision,
  decided,
  decisionJson,
  inForceAt,
  latestOf,
  mergeStates,
  stateFrom,
  stateJson,
} from './cutover-state.ts';
import { createStays, type Stays } from './stays.ts';

/** A decision to be made: what changes, and why. */
export type NewDecision = Pick<Decision, 'cause' | 'reason' | 'by' | 'from'> &
  Partial<Pick<Decision, 'phase' | 'shares'>>;

/** The decisions about the cut-over, and who stays with which server. They survive reloads, and are stored and shared. */
export interface CutoverStore {
  readonly stays: Stays;
  state(): CutoverState;
  /** Returns the latest decision, which may not apply yet. */
  latest(): Decision;
  /** Returns the decision that applies now: the same object, until another one does. Called for each request. */
  inForce(): Decision;
  /**
   * Makes a decision. It applies at once or, if there are other gateways, a moment later, so that it applies everywhere at
   * the same time: otherwise, a caller of two gateways would get to and fro. `stored` resolves once it is stored or
   * shared, or to false if it is in memory only.
   */
  decide(decision: NewDecision): { readonly decision: Decision; readonly stored: Promise<boolean> };
  /** Begins again if the decisions are about another server. */
  useServer(server: string): void;
  /** Checks that the state can be stored, and begins to share it. Does nothing if it has been called. */
  open(): Promise<void>;
  close(): Promise<void>;
}

interface StoreParts {
  readonly stored: StoredCutover;
  readonly file: string;
  readonly server: string;
  readonly settings: Pick<Settings, 'originOf' | 'placeOf'>;
  readonly sharing: Pick<Sharing, 'openDocument' | 'keyedHash' | 'status' | 'changes'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The JSON pointer to the key that names the file. */
export const POINTER = '/cutover/file';

/**
 * The time between a decision and when it applies, in milliseconds, if there are other gateways. They know of it within a
 * few milliseconds, and their clocks differ by as much.
 */
const LEAD_MS = 200;

/** The time between writes of who stays with a server, in milliseconds. A crash loses as much. */
const WRITE_MS = 500;

/** Creates the store. Nothing is written before it is opened, so that commands can create it, too. */
export function createCutoverStore(parts: StoreParts): CutoverStore {
  const { stored, file, settings, sharing, clock, logger } = parts;
  let state = stored.state?.server === parts.server ? stored.state : newState(parts.server);
  let inForce = inForceAt(state, clock());
  let isOpen = false;
  let timer: NodeJS.Timeout | undefined;

  const { check, write } = createStateWriter({
    settings,
    file,
    pointer: POINTER,
    logger,
    name: 'cutover',
    what: 'the decisions of the cut-over',
    save() {
      clearTimeout(timer);
      timer = undefined;
      return writeCutoverFile(file, { key: stored.key, state, stays: stays.list() });
    },
  });
  const stays = createStays({
    ownKey: stored.key,
    stored: stored.stays,
    sharing,
    onChange() {
      if (isOpen) timer ??= setTimeout(() => void write(), WRITE_MS).unref();
    },
  });
  const replace = (next: CutoverState) => {
    state = next;
    inForce = inForceAt(state, clock());
  };

  const shared = sharing.openDocument<CutoverState>('cutover', {
    current: () => state,
    adopt(next) {
      logger.warn({ cutover: decisionJson(latestOf(next)) }, 'the cut-over was changed on another gateway');
      replace(next);
      void write();
    },
    merge: (_base, mine, theirs) => mergeStates(mine, theirs),
    // While a new configuration reaches one gateway after the other, they know different servers.
    versionOf: ({ server }) => server,
    empty: ({ server }) => newState(server),
    format: (value) => JSON.stringify({ version: 1, ...stateJson(value) }),
    parse(text) {
      const { version, ...given } = parseState(text);
      if (version !== 1) throw new Error('version must be 1');
      return stateFrom(given);
    },
  });

  const open = async () => {
    isOpen = true;
    await check();
    await Promise.all([stays.read(), shared.start()]);
  };
  let opening: Promise<void> | undefined;
  return {
    stays,
    state: () => state,
    latest: () => latestOf(state),
    inForce() {
      // The clock is read only while a decision is about to apply.
      if (latestOf(state) !== inForce) inForce = inForceAt(state, clock());
      return inForce;
    },
    decide({ cause, reason, by, from, ...change }) {
      const before = latestOf(state);
      const next = { phase: before.phase, shares: before.shares, ...change };
      const moves = next.shares !== before.shares || (next.phase === 'returned') !== (before.phase === 'returned');
      const at = clock();
      const number = before.number + 1;
      const decision: Decision = {
        ...next,
        number,
        step: moves ? number : before.step,
        cause,
        reason,
        by,
        from,
        at,
        appliesAt: sharing.status() === undefined ? at : at + LEAD_MS,
        since: moves ? at : before.since,
        exceededAt: cause === 'limit' ? at : before.exceededAt,
      };
      replace(decided(state, decision));
      const storing = Promise.all([write(), shared.sync()]).then(([isStored, isShared]) => isStored || isShared);
      return { decision, stored: storing };
    },
    useServer(server) {
      if (state.server === server) return;
      replace(newState(server));
      if (isOpen) void Promise.all([write(), shared.sync()]);
    },
    open: () => (opening ??= open()),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await write();
    },
  };
}

const newState = (server: string): CutoverState => ({ server, decisions: [] });
