/** A probe of a credential that the upstream answered with a status by which it says that it failed. */
export class ProbeFailure extends Error {
  override readonly name = 'ProbeFailure';

  constructor(status: number) {
    super(`the probe answered ${status}`);
  }
}
