import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { callAt } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startOtlpReceiver } from '../builders/otlp-receiver.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

interface ExemplarResponse {
  readonly data: readonly {
    readonly exemplars: readonly { readonly labels: { readonly trace_id: string; readonly span_id: string } }[];
  }[];
}

/** Starts Prometheus with storage for exemplars, and returns its address. */
async function startPrometheus(path: string, target: string): Promise<string> {
  const folder = tempFolder();
  const config = { scrape_configs: [{ job_name: 'portico', static_configs: [{ targets: [target] }] }] };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({ global: { scrape_interval: '200ms' }, ...config }));
  const child = spawn(path, [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--web.listen-address=127.0.0.1:0',
    '--enable-feature=exemplar-storage',
  ]);
  const ended = new Promise((resolve) => child.once('close', resolve));
  cleanUpAfterFile(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (part) => {
      text += String(part);
      const [, address] = /[Ll]istening on.*address=(127\.0\.0\.1:[1-9]\d*)/.exec(text) ?? [];
      if (address !== undefined) resolve(`http://${address}`);
    });
    child.once('close', () => reject(new Error(text)));
  });
}

needsProgram('prometheus', 'Prometheus', (path) => {
  it('stores exemplars that name exported spans', async () => {
    const receiver = await startOtlpReceiver();
    const upstream = await startFakeUpstream(exampleResponse);
    const tracing = { endpoint: receiver.url, exportSeconds: 0.01 };
    const gateway = await startTestGateway({ upstream, config: { tracing } });
    const prometheus = await startPrometheus(path, new URL(gateway.adminUrl).host);
    await gateway.call('/services/v2/question.json');
    const { traceId, spanId } = await receiver.span(({ kind }) => kind === 'server');
    const now = Math.floor(Date.now() / 1000);
    const range = `start=${now - 60}&end=${now + 60}`;
    const query = `/api/v1/query_exemplars?query=portico_http_request_duration_seconds_bucket&${range}`;
    let found: ExemplarResponse['data'] = [];
    while (found.length === 0) {
      await wait(100);
      found = (JSON.parse((await callAt(prometheus, query, { user: null })).text) as ExemplarResponse).data;
    }
    expect(found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels))).toEqual([
      { trace_id: traceId, span_id: spanId },
    ]);
  });
});
