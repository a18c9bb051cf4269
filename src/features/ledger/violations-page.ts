import { join } from 'node:path';
import type { FeatureContext } from '../../engine/feature.ts';
import type { OperatorPage } from '../../engine/http/operator-page.ts';

/** Returns the page that lists the violations and lets operators accept them. */
export function violationsPage(
  context: Pick<FeatureContext<unknown>, 'records' | 'gateway' | 'clock' | 'settings' | 'operations'>,
): OperatorPage {
  return {
    name: 'violations',
    title: 'Violations',
    position: 20,
    folder: join(import.meta.dirname, 'pages'),
    showsOperation: true,
    actions: { '/accept': 'accept', '/withdraw': 'withdraw' },
    async data(guard, failed) {
      const { createViolationsApi } = await import('./violations-api.ts');
      return createViolationsApi(context, guard, failed);
    },
  };
}
