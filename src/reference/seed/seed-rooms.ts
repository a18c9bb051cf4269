/** What seeded nodes refer to, as ids. */
export interface SeedRooms {
  readonly users: readonly number[];
  readonly spaces: readonly number[];
  readonly topics: readonly number[];
}
