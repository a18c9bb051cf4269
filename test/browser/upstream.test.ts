import { expect, it } from 'vitest';
import { needsProgram } from '../builders/needs-program.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { launch } from './launch.ts';
import { openConsole, openContext } from './open-console.ts';

needsProgram('chromium', 'the page of the upstream', (path) => {
  it('shows its address, the cause of the last failure, and when the circuit opened', async () => {
    // Nothing is listening on this port.
    const gateway = await startTestGateway({
      upstream: 'http://127.0.0.1:1/legacy/',
      config: { upstream: { circuit: { failures: 2, openSeconds: 600 } } },
    });
    for (const page of [1, 2]) await gateway.call(`/services/v2/question.json?page=${page}`);
    const context = await openContext(await launch(path), gateway.adminUrl, { token: null });
    const { page, troubles } = await openConsole(context, gateway.adminUrl, '#/upstream');
    await page.getByText('http://127.0.0.1:1/legacy', { exact: true }).waitFor();
    await page
      .getByText(/^Last failure: the upstream refused the connection \(ECONNREFUSED\), .* \(\d+ s ago\)\.$/)
      .waitFor();
    await page.getByRole('row', { name: /opened the upstream refused the connection/ }).waitFor();
    await page.getByRole('img', { name: /the circuit opened 1 time\. It is open\.$/ }).waitFor();
    await page.getByRole('row', { name: /127\.0\.0\.1:1 healthy/ }).waitFor();
    await page.getByText('The upstream is failing: requests keep failing, so they are paused').waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });
});
