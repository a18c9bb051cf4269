const DAY_MS = 86_400_000;

/** The instant before which what was not seen again is forgotten, in epoch milliseconds. */
export function forgottenBefore(now: number, retentionDays: number): number {
  return now - retentionDays * DAY_MS;
}
