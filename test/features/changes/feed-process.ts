import { readSettings } from '../../../src/engine/config/load-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { createGateway } from '../../../src/engine/gateway.ts';
import { FEATURES } from '../../../src/features.ts';
import { PORTICO } from '../../../src/portico-settings.ts';
import { memoryInUse } from '../../builders/held-memory.ts';

// Crash tests run this program as a separate process: a gateway with the configuration in a folder, in front of an
// upstream. It sends its addresses to the test, reloads, measures its memory or ends when it is told to, and otherwise runs
// until it is killed.
const [folder = '', upstream = ''] = process.argv.slice(2);
const env = { PORTICO_CONFIG: `${folder}/portico.yaml` };
const read = () => {
  const { settings, faults } = readSettings({ env, cwd: folder }, PORTICO);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return { settings: withUpstreamUrl(settings, upstream), faults };
};
const isFailure = (line: string) => line.includes('"level":"error"') && !line.includes('"msg":"request"');
const logStream = { write: (line: string) => void (isFailure(line) && process.stderr.write(line)) };
const gateway = await createGateway(read().settings, { env, logStream, readSettings: read, features: FEATURES });
process.on('message', (task) => {
  if (task === 'reload') void gateway.reload('signal').then(({ outcome }) => process.send?.({ outcome }));
  else if (task === 'memory') void memoryInUse().then((memory) => process.send?.(memory));
  else void gateway.close().then(() => process.exit());
});
// A gateway whose test has ended must not go on.
process.on('disconnect', () => process.exit());
process.send?.({ url: gateway.publicUrl, adminUrl: gateway.adminUrl });
