import { readSettings } from '../../../src/engine/config/load-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { createGateway } from '../../../src/engine/gateway.ts';
import { FEATURES } from '../../../src/features.ts';
import { PORTICO } from '../../../src/portico-settings.ts';

// Crash tests run this program as a separate process: a gateway with the configuration in a folder, in front of an
// upstream. It prints its addresses, and runs until it is killed.
const [folder = '', upstream = ''] = process.argv.slice(2);
const env = { PORTICO_CONFIG: `${folder}/portico.yaml` };
const { settings, faults } = readSettings({ env, cwd: folder }, PORTICO);
if (faults.length > 0) throw new Error(JSON.stringify(faults));
const isFailure = (line: string) => line.includes('"level":"error"') && !line.includes('"msg":"request"');
const logStream = { write: (line: string) => void (isFailure(line) && process.stderr.write(line)) };
const gateway = await createGateway(withUpstreamUrl(settings, upstream), { env, logStream, features: FEATURES });
process.stdout.write(`${JSON.stringify({ url: gateway.publicUrl, adminUrl: gateway.adminUrl })}\n`);
