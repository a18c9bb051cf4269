import { once } from 'node:events';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/lib/package-root.ts';
import { freePort } from '../../bench/free-port.ts';
import { renderChart } from '../../tools/render-chart.ts';
import { cleanUpAfterFile, cleanUpAfterTest } from '../builders/clean-up.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { eventually, until } from '../builders/until.ts';
import { finished, untilSays } from '../cli/run-portico.ts';
import { faultsOf } from '../engine/config/load-in-folder.ts';
import { readText } from '../readme/tables.ts';
import { deployFile, imageSettings, type UnpackedImage, unpackImage } from './image.ts';

const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
  description: string;
  license: string;
  devDependencies: Readonly<Record<string, string>>;
};
const settings = imageSettings();
const EMPTY_PAGE = {
  name: '',
  sort: 'active',
  page: 1,
  pageSize: 15,
  pageCount: 0,
  listCount: 0,
  totalCount: 0,
  sorts: [],
  list: [],
};
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

/** What a package.json contains. */
interface Package {
  readonly name: string;
  readonly version: string;
}

describe('the Dockerfile', () => {
  const stages = DockerfileParser.parse(deployFile('Dockerfile')).getFROMs();

  it('has no problems that the Dockerfile linter knows', () => {
    expect(validate(deployFile('Dockerfile')).map(({ message, range }) => [range.start.line + 1, message])).toEqual([]);
  });

  it('names every base image by its version and its digest', () => {
    expect(stages.length).toBe(3);
    for (const stage of stages) expect(stage.getImage()).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  });

  it('uses the version of Node that the tests use', () => {
    expect(stages.map((stage) => stage.getImage())).toContainEqual(
      expect.stringContaining(`node:${manifest.devDependencies['node']}-bookworm@`),
    );
  });

  it('runs as a user that is not root, and whose number Kubernetes can check', () => {
    expect(settings.user).toBe('65532:65532');
  });

  it('stores compiled code as the user of the image, with the command that reads it', () => {
    const [, build = ''] = deployFile('Dockerfile')
      .split(/^FROM /m)
      .slice(1);
    const [, warm = ''] = new RegExp(`\nUSER ${settings.user}\n((?:.|\n)*?)\nUSER root\n`).exec(build) ?? [];
    expect(warm).toContain(`/image${settings.command.join(' ')}`);
  });

  it('describes the release in labels', () => {
    const label = (name: string) => settings.labels[`org.opencontainers.image.${name}`];
    expect(label('description')).toBe(manifest.description);
    expect(label('licenses')).toBe(manifest.license);
    expect(deployFile('Dockerfile')).toContain(`\nARG VERSION=${manifest.version}\n`);
    expect([label('version'), label('revision')].map((text) => text?.slice(1))).toEqual(['{VERSION}', '{REVISION}']);
    expect(stages.at(-1)?.getImage()).toContain(`${label('base.name')}@`);
  });

  it('has a health check that can also be run by its path', () => {
    expect(deployFile('healthcheck.sh')).toMatch(/^#!\/bin\/busybox sh\n#/);
  });

  // Outside a container, the admin side listens only on loopback. In a container, that is impossible, so anyone who
  // can reach the published port could use the console.
  it('does not start in front of a real server without an admin token', () => {
    const faults = (env: Readonly<Record<string, string>>) => faultsOf('', { env: { ...settings.env, ...env } });
    const upstream = { UPSTREAM_URL: 'http://127.0.0.1:9' };
    expect(faults(upstream)).toMatchObject([
      {
        pointer: '/adminToken',
        message: expect.stringMatching(/^is required, because the admin side listens on/) as string,
      },
    ]);
    expect([faults({ ...upstream, PORTICO_ADMIN_TOKEN: TOKEN }), faults({})]).toEqual([[], []]);
  });

  it('passes no secret to the build', () => {
    expect(deployFile('Dockerfile')).not.toMatch(/^(?:ARG|ENV) .*(?:TOKEN|PASSWORD|SECRET|REDIS_URL)/m);
  });
});

needsProgram('busybox', 'the image, without a container engine', (busybox) => {
  let image: UnpackedImage;
  /** The result of a health check that gets no response. The check takes seconds, so the last test awaits it. */
  let unanswered: Promise<string>;
  beforeAll(async () => {
    image = unpackImage(busybox);
    const silent = createTcpServer().listen(0, '127.0.0.1');
    cleanUpAfterFile(() => silent.close());
    await once(silent, 'listening');
    unanswered = check({ ADMIN_PORT: String((silent.address() as AddressInfo).port) });
  });

  const check = async (env: Readonly<Record<string, string>>) => {
    const { code, out, err } = await finished(image.start(settings.healthCheck, env));
    return code === 0 ? `passes${out}${err}` : `fails with ${String(code)}`;
  };

  it('contains the program and what it reads, but no sources and no development packages', () => {
    const found = readdirSync(join(image.root, 'portico')).toSorted();
    expect(found).toEqual(['bin', 'config', 'dist', 'node_modules', 'package-lock.json', 'package.json', 'schemas']);
    const packages = readdirSync(join(image.root, 'portico', 'node_modules'));
    expect(packages).toContain('express');
    expect(packages.filter((name) => ['vitest', 'typescript', 'node'].includes(name))).toEqual([]);
  });

  it('contains the licenses of all packages that are bundled in its program', () => {
    const licenses = readFileSync(join(image.root, 'portico', 'dist', 'program', 'LICENSES.txt'), 'utf8');
    const others = readdirSync(join(image.root, 'portico', 'node_modules'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
      .map((file) => JSON.parse(readFileSync(join(image.root, 'portico', 'node_modules', file), 'utf8')) as Package)
      .filter(({ name, version }) => !licenses.includes(`\n${name} ${version} (`));
    // These are loaded from node_modules when the contract or the console needs them, or are never loaded.
    const unbundled =
      'htm preact uplot @eslint-community/regexpp json-p3 refa regexp-ast-analysis scslre @opentelemetry/sdk-logs ' +
      '@opentelemetry/sdk-metrics require-from-string pino-abstract-transport process-warning real-require split2';
    expect(others.map(({ name }) => name).toSorted()).toEqual(unbundled.split(' ').toSorted());
    expect(licenses.split('Permission is hereby granted').length).toBeGreaterThan(50);
  });

  it('needs at most 40 MB besides Node and the base image, so that all of it is smaller than 200 MB', () => {
    expect(sizeOf(join(image.root, 'portico'))).toBeLessThan(40e6);
  });

  // The second start reads the compiled code that the first one stored.
  describe('the gateway in the image', { shuffle: false }, () => {
    // This start stores compiled code, as in the Dockerfile. The last test ends the gateway.
    describe('started with its default command', () => {
      let gateway: Awaited<ReturnType<typeof start>>;
      let files: readonly string[];
      let compiled: readonly string[];
      const isCompiled = (file: string) => file.includes('/node_modules/.cache/');
      beforeAll(async () => {
        files = filesOf(image.root);
        gateway = await start(image, { PORTICO_ADMIN_TOKEN: TOKEN }, cleanUpAfterFile);
        compiled = filesOf(image.root).filter(isCompiled);
      });

      it('stores its compiled code before it is ready, so that a process that is killed also makes the next start faster', () => {
        expect(compiled.length).toBeGreaterThan(50);
      });

      it('serves requests without privileges', async () => {
        const page = await fetch(`${gateway.public}/services/v2/question.json?pageSize=1`, {
          headers: { authorization: basic('alice', 'alice') },
        });
        expect([page.status, (await fetch(`${gateway.admin}/readyz`)).status]).toEqual([200, 200]);
        expect(readdirSync(join(image.root, 'data', '.portico'))).toContain('ledger.db');
      });

      it('has a console that operators reach with the variables of the documented command', async () => {
        const [line = ''] =
          /^docker run [^`]*?portico$/m.exec(readText('docs/deployment.md').replaceAll('\\\n', ' ')) ?? [];
        expect(line).toMatch(/-p 127\.0\.0\.1:8081:8081 .*-e PORTICO_ADMIN_TOKEN /);
        for (const flag of ['--read-only', '--tmpfs /tmp', '--cap-drop ALL', `-v portico:${settings.volume}`])
          expect(line).toContain(flag);
        const console = (headers: Record<string, string>) => fetch(`${gateway.admin}/console/`, { headers });
        expect((await console({})).status).toBe(401);
        expect((await console({ authorization: basic('operator', TOKEN) })).status).toBe(200);
      });

      it('passes its health check', async () => {
        expect(await check(gateway.env)).toBe('passes');
      });

      it('ends without an error and has written only to the volume and compiled code', async () => {
        expect(await gateway.stop()).toBe(0);
        expect(filesOf(image.root).filter((file) => !isCompiled(file))).toEqual(files);
      });
    });

    describe('started again as a pod of the Helm chart', () => {
      let said = '';

      it('has its files, variables, secrets and probes, and writes only to the volume', async () => {
        image.seal();
        const upstream = await startFakeUpstream(({ user }) => ({
          status: user === 'portico' ? 200 : 401,
          json: EMPTY_PAGE,
        }));
        const config = `mode: strict\nupstream: { url: ${upstream.url} }\nlisten: { lameDuckSeconds: 0 }\n`;
        const chart = renderChart({
          config,
          upstreamUsername: 'portico',
          secrets: { upstreamPassword: { name: 'legacy', key: 'password' } },
        });
        const object = (name: string) => parse(chart.get(name) ?? '', { version: '1.1' }) as unknown;
        const { data } = object('configmap.yaml') as { data: Record<string, string> };
        const { containers, volumes } = (object('deployment.yaml') as Pod).spec.template.spec;
        const [container] = containers;
        const secrets = { 'admin-token': `${TOKEN}\n`, 'upstream-password': 'secret-of-portico\n' };
        // The default mode in Kubernetes is 0644, and Portico does not start if files with secrets have this mode.
        const modeOf = (name: string) => {
          const { configMap, projected } = volumes.find((one) => one.name === name) ?? {};
          return (configMap ?? projected)?.defaultMode ?? 0o644;
        };
        image.mount('/etc/portico', data, modeOf('config'));
        image.mount('/run/secrets/portico', secrets, modeOf('secrets'));
        const env = Object.fromEntries(container.env.map(({ name, value = 'portico-7d9f' }) => [name, value]));
        const files = filesOf(image.root);
        const gateway = await start(image, { ...env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
        for (const { path, port } of [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
          ({ httpGet }) => httpGet,
        )) {
          expect(port).toBe('admin');
          expect((await fetch(`${gateway.admin}${path}`)).status).toBe(200);
        }
        const console = await fetch(`${gateway.admin}/console/`, {
          headers: { authorization: basic('operator', TOKEN) },
        });
        expect(console.status).toBe(200);
        expect(upstream.requests.some(({ password }) => password === 'secret-of-portico')).toBe(true);
        expect(await gateway.stop()).toBe(0);
        expect(filesOf(image.root)).toEqual(files);
        said = (await gateway.done).err;
      });

      it('has read the compiled code that the first start stored', () => {
        const count = (text: string) => said.split(text).length - 1;
        expect(count('was accepted')).toBeGreaterThan(50);
        // V8 rejects code that was compiled with other flags, such as code stored by other commands. undici loads its
        // parser when it sends its first request, and the first gateway sends that request only after changing the
        // flags.
        const rejected = said.split('\n').filter((line) => line.includes('was rejected'));
        expect(rejected.filter((line) => !line.includes('/undici/lib/llhttp/'))).toEqual([]);
        expect(count('was not initialized')).toBeLessThan(20);
      });
    });
  });

  describe('the health check', () => {
    it('passes while the gateway is alive, even while it drains, and fails once it has ended', async () => {
      const held = Promise.withResolvers<undefined>();
      const upstream = await startFakeUpstream(async (request) => {
        await held.promise;
        return exampleResponse(request);
      });
      const gateway = await startTestGateway({ upstream, config: { listen: { drainSeconds: 600 } } });
      const env = { ADMIN_PORT: new URL(gateway.adminUrl).port };
      expect(await check(env)).toBe('passes');
      const last = gateway.call('/services/v2/question.json');
      await until(() => upstream.requests.length === 1);
      const closed = gateway.close();
      expect((await gateway.admin('/readyz')).status).toBe(503);
      expect(await check(env)).toBe('passes');
      held.resolve(undefined);
      expect((await last).status).toBe(200);
      await closed;
      expect(await check(env)).toBe('fails with 1');
    });

    it.each([302, 404, 503])('fails if the response has the status %d', async (status) => {
      const other = await serve((_req, res) => void res.writeHead(status, { location: '/' }).end());
      expect(await check({ ADMIN_PORT: String(other) })).toBe('fails with 1');
    });

    // If the environment specifies a proxy, that proxy could return a 200 even after the gateway has failed.
    it('does not use a proxy', async () => {
      const proxy = await serve((_req, res) => void res.end('from the proxy'));
      const closed = await freePort();
      const env = { ADMIN_PORT: String(closed), http_proxy: `http://127.0.0.1:${proxy}` };
      expect(await check(env)).toBe('fails with 1');
    });

    it('fails if the connection is accepted but nothing responds', async () => {
      expect(await unanswered).toBe('fails with 1');
    });

    it.each([
      ['0.0.0.0', '127.0.0.1'],
      ['127.0.0.1', '127.0.0.1'],
      ['::', '[::1]'],
      ['::1', '[::1]'],
    ])('asks a gateway that listens on %s at %s', async (ADMIN_HOST, address) => {
      const seen: (string | undefined)[] = [];
      const port = await serve((req, res) => {
        seen.push(req.url, req.headers.host);
        res.end();
      }, ADMIN_HOST);
      expect(await check({ ADMIN_HOST, ADMIN_PORT: String(port) })).toBe('passes');
      expect(seen).toEqual(['/livez', `${address}:${port}`]);
    });
  });
});

/** The members of a Deployment that the tests read. */
interface Pod {
  spec: { template: { spec: { containers: [Container]; volumes: Volume[] } } };
}
interface Volume {
  name: string;
  configMap?: { defaultMode?: number };
  projected?: { defaultMode?: number };
}
interface Container {
  env: { name: string; value?: string }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
}
interface Probe {
  httpGet: { path: string; port: string };
}

/** Starts the image's default command on free ports, and waits until the gateway is ready. */
async function start(
  image: UnpackedImage,
  variables: Readonly<Record<string, string>> = {},
  cleanUp: typeof cleanUpAfterTest = cleanUpAfterTest,
) {
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
  const env = { ...variables, PORT, ADMIN_PORT };
  const child = image.start(settings.command, env);
  cleanUp(() => child.kill('SIGKILL'));
  const done = finished(child);
  const admin = `http://127.0.0.1:${ADMIN_PORT}`;
  await untilSays(child, /^ {2}admin /m);
  await eventually(async () => (await fetch(`${admin}/readyz`)).ok);
  return {
    child,
    done,
    env,
    admin,
    public: `http://127.0.0.1:${PORT}`,
    stop: async () => {
      child.kill('SIGTERM');
      return (await done).code;
    },
  };
}

async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<number> {
  const server = createServer(listener).listen(0, host);
  cleanUpAfterTest(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

/** Returns the image's files with their sizes and times, excluding the files in the volume and in `/dev`. */
function filesOf(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => !path.startsWith(join(root, settings.volume)) && !path.startsWith(join(root, 'dev')))
    .map((path) => {
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
}
