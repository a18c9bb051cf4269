import { rawRequest } from './raw-request.ts';

const GIVE_UP_MS = 10_000;

/**
 * Waits until `/readyz` returns 200. By then, the public listener is also open, because it opens before the admin
 * listener.
 */
export async function untilReady(adminPort: number): Promise<void> {
  for (const giveUpAt = performance.now() + GIVE_UP_MS; performance.now() < giveUpAt;) {
    const status = await rawRequest(adminPort, '/readyz').then(
      (response) => response.status,
      () => undefined,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`Portico was not ready within ${GIVE_UP_MS / 1000} s`);
}
