import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { createStateWriter } from '../../engine/config/state-writer.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseState } from '../../lib/state-file.ts';
import { type StoredCutover, writeCutoverFile } from './cutover-file.ts';
import {
  contains,
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
  Partial<Pick<Decision, 'phase' | 'shares'>> & {
    /** Undefined if everybody is served by the same server as before. */
    readonly moves?: 'forward' | 'back' | undefined;
  };

/** How a decision is kept. */
export interface KeptDecision {
  /** False if the decision is in memory only. */
  readonly stored: boolean;
  /** False if other gateways have not heard of it. Undefined if there are none. */
  readonly shared: boolean | undefined;
}

/** The decisions about the cut-over, and who stays with which server. They survive reloads, and are stored and shared. */
export interface CutoverStore {
  readonly stays: Stays;
  /** Returns the number of callers who stay with a server now. */
  staying(): number;
  state(): CutoverState;
  /** Returns the latest decision, which may not apply yet. */
  latest(): Decision;
  /** Returns the decision that applies now: the same object, until another one does. Called for each request. */
  inForce(): Decision;
  /** Returns when the shares began to apply again after the latest return or freeze. 0 if there has been none. */
  resumedAt(): number;
  /**
   * Makes a decision. It applies at once or, if there are other gateways, a moment later, so that it applies everywhere at
   * the same time: otherwise, a caller of two gateways would get to and fro. `kept` resolves once it is stored and
   * shared, and to undefined if a decision of another gateway counts instead.
   */
  decide(decision: NewDecision): { readonly decision: Decision; readonly kept: Promise<KeptDecision | undefined> };
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
  /** Called when the shares apply again after a return or a freeze. */
  readonly onResume: () => void;
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
  const { stored, file, settings, sharing, clock, logger, onResume } = parts;
  let state = stored.state?.server === parts.server ? stored.state : newState(parts.server);
  let inForce = latestOf(state);
  /** When this gateway has heard of the latest decision, which soon applies whatever the clocks of others say. */
  let heardAt = -Infinity;
  let resumedAt = 0;
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
      return writeCutoverFile(file, { key: stored.key, state, ...stays.list() });
    },
  });
  const stays = createStays({
    ownKey: stored.key,
    stored,
    sharing,
    onChange() {
      if (isOpen) timer ??= setTimeout(() => void write(), WRITE_MS).unref();
    },
  });
  /** Lets the decision apply whose time has come. What has applied is only replaced by what came later, or overrules it. */
  const settle = () => {
    const latest = latestOf(state);
    const now = clock();
    const isOverruled = inForce.number > 0 && !contains(state.decisions, inForce);
    // A clock that was set back must not delay a return.
    const isDue = isOverruled || Math.abs(now - heardAt) >= LEAD_MS;
    const found = isDue ? latest : inForceAt(state, now);
    if (!isOverruled && found.number < inForce.number) return;
    const isResume = found.phase === 'running' && inForce.phase !== 'running';
    inForce = found;
    if (!isResume) return;
    resumedAt = now;
    onResume();
  };
  const replace = (next: CutoverState) => {
    state = next;
    heardAt = clock();
    settle();
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
    parse: (text) => stateFrom(parseState(text)),
  });

  const open = async () => {
    isOpen = true;
    await check();
    await Promise.all([stays.read(), shared.start()]);
  };
  const current = () => {
    // The clock is read only while a decision is about to apply.
    if (latestOf(state) !== inForce) settle();
    return inForce;
  };
  let opening: Promise<void> | undefined;
  return {
    stays,
    staying: () => (current().phase === 'returned' ? 0 : stays.count(inForce)),
    state: () => state,
    latest: () => latestOf(state),
    inForce: current,
    resumedAt: () => resumedAt,
    decide({ cause, reason, by, from, moves, ...change }) {
      const before = latestOf(state);
      const at = clock();
      const number = before.number + 1;
      const decision: Decision = {
        phase: before.phase,
        shares: before.shares,
        ...change,
        number,
        raised: moves === 'forward' ? number : before.raised,
        lowered: moves === 'back' ? number : before.lowered,
        cause,
        reason,
        by,
        from,
        at,
        appliesAt: sharing.status() === undefined ? at : at + LEAD_MS,
        exceededAt: cause === 'limit' ? at : before.exceededAt,
      };
      replace(decided(state, decision));
      const keeping = Promise.all([write(), shared.sync()]).then(([isStored, isShared]) => {
        if (!contains(state.decisions, decision)) return undefined;
        const isFleet = sharing.status() !== undefined;
        return { stored: isStored || isShared, shared: isFleet ? isShared : undefined };
      });
      return { decision, kept: keeping };
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
