import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { createSeal } from '../../../lib/seal.ts';
import { hashTexts } from '../hash-texts.ts';
import type { Instances, SharedDocument, SharedHash, SharedSet, Sharing } from '../sharing.ts';
import { createOwnClaims } from './own-claims.ts';
import { createOwnCounters } from './own-counters.ts';
import { createOwnLines } from './own-lines.ts';
import { createOwnMap } from './own-map.ts';
import { createOwnWindows } from './own-windows.ts';

/** Opens the port of a gateway that shares only with itself. All results are there at once. */
export function openAlone(clock: Clock): Sharing {
  // Whoever opens a thing of the same name again, such as a feature that a reload has started again, gets the same one.
  const opened = new Map<string, unknown>();
  const once = <T>(kind: string, name: string, open: () => T): T => {
    const key = `${kind} ${name}`;
    if (!opened.has(key)) opened.set(key, open());
    return opened.get(key) as T;
  };
  const lineage = randomUUID();
  let number = 0;
  return {
    changes: {
      append() {
        number += 1;
        return undefined;
      },
      listen: () => undefined,
      position: () => ({ lineage, number }),
      syncedAt: clock,
      unapplied: () => [],
      canMiss: false,
    },
    map: (name) => once('map', name, () => createOwnMap(clock)),
    claims: (name) => once('claims', name, () => createOwnClaims(clock)),
    counters: (name, max) => once('counters', `${name} ${max}`, () => createOwnCounters(clock, max)),
    windows: (name, max) => once('windows', `${name} ${max}`, () => createOwnWindows(clock, max)),
    keyedHash: (name) => once('hash', name, createOwnHash),
    set: (name) => once('set', name, createOwnSet),
    openDocument: <T>(): SharedDocument<T> => OWN_DOCUMENT,
    lines: (name, _max, shown) => once('lines', name, () => createOwnLines(shown)),
    instances: NO_INSTANCES,
    status: () => undefined,
    seal: createSeal([]),
    redis: undefined,
    close: () => Promise.resolve(),
  };
}

function createOwnHash(): SharedHash {
  const key = randomBytes(32);
  return {
    id: () => 'own',
    read: () => undefined,
    hash: (...texts) => hashTexts(key, texts),
  };
}

function createOwnSet(): SharedSet {
  const members = new Set<string>();
  return { members: () => [...members], add: (member) => void members.add(member) };
}

/** The copy in memory is the document, so every turn can be taken, and there is nothing to merge. */
const OWN_DOCUMENT = {
  start: () => Promise.resolve(),
  sync: () => Promise.resolve(false),
  takeTurn: () => Promise.resolve({ commit: () => Promise.resolve(true) }),
};

const NO_INSTANCES: Instances = { start: () => undefined, list: () => [] };
