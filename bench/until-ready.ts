import { rawRequest } from './raw-request.ts';

/** Waits until Portico says on its admin side that it is ready; asks every other millisecond. */
export async function untilReady(adminPort: number): Promise<void> {
  const giveUpAt = performance.now() + 10_000;
  while ((await rawRequest(adminPort, '/readyz')).status !== 200) {
    if (performance.now() > giveUpAt) throw new Error('Portico was not ready within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
