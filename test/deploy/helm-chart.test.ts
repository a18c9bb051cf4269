import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrometheusRule, ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service, ServiceAccount } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { LISTEN_DEFAULTS } from '../../src/engine/config/general-options.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { type ChartValues, renderChart, renderedManifests } from '../../tools/render-chart.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { faultsOf } from '../engine/config/load-in-folder.ts';
import { deployFile, imageSettings } from './image.ts';

/** The kinds of objects in the chart, each with its schema and the module that defines its types. */
const KINDS = {
  ConfigMap: [ConfigMap, 'kubernetes-models/v1'],
  Deployment: [Deployment, 'kubernetes-models/apps/v1'],
  HorizontalPodAutoscaler: [HorizontalPodAutoscaler, 'kubernetes-models/autoscaling/v2'],
  Ingress: [Ingress, 'kubernetes-models/networking.k8s.io/v1'],
  NetworkPolicy: [NetworkPolicy, 'kubernetes-models/networking.k8s.io/v1'],
  PodDisruptionBudget: [PodDisruptionBudget, 'kubernetes-models/policy/v1'],
  PrometheusRule: [PrometheusRule, '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'],
  Service: [Service, 'kubernetes-models/v1'],
  ServiceAccount: [ServiceAccount, 'kubernetes-models/v1'],
  ServiceMonitor: [ServiceMonitor, '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'],
} as const;
type Kind = keyof typeof KINDS;

interface Container {
  image: string;
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  lifecycle: { preStop: { sleep: { seconds: number } } };
  volumeMounts: { name: string; mountPath: string }[];
  securityContext: object;
}
type Labels = Readonly<Record<string, string>>;
/** A rendered object, with the members that the tests read. */
interface Manifest {
  apiVersion: string;
  kind: Kind;
  metadata: { name: string; labels: Labels };
  data: Readonly<Record<string, string>>;
  spec: {
    replicas?: number;
    terminationGracePeriodSeconds: number;
    selector: Labels & { matchLabels: Labels };
    podSelector: { matchLabels: Labels };
    jobLabel: string;
    publishNotReadyAddresses?: boolean;
    ports: { name: string; targetPort: string }[];
    endpoints: { port: string }[];
    groups: object[];
    ingressClassName?: string;
    rules: { host: string; http: { paths: { path: string; backend: { service: object } }[] } }[];
    policyTypes: string[];
    ingress: { ports: { port: string }[]; from?: object[] }[];
    scaleTargetRef: { name: string };
    template: {
      metadata: { labels: Labels; annotations: Labels };
      spec: {
        containers: [Container];
        securityContext: { runAsUser: number; runAsGroup: number; fsGroup: number };
        terminationGracePeriodSeconds: number;
        volumes: { name: string; projected?: { sources: { secret: object }[] } }[];
      };
    };
  };
}

/** Values that turn on every feature of the chart. */
const FULL: ChartValues = {
  image: { repository: 'registry.example.org/portico', digest: `sha256:${'0a'.repeat(32)}` },
  imagePullSecrets: [{ name: 'registry' }],
  config:
    'mode: strict\nupstream: { url: http://legacy.example.svc/qa }\nlisten: { lameDuckSeconds: 20, drainSeconds: 40 }\n',
  files: { 'overlay.yaml': 'overlay: 1.0.0\ninfo:\n  title: ours\n' },
  release: '2026.11',
  secrets: {
    upstreamPassword: { name: 'legacy', key: 'password' },
    redisUrl: { name: 'redis', key: 'url' },
    roles: { name: 'portico-roles', key: 'roles' },
    tokensKey: { name: 'tokens', key: 'key' },
    tokensSealingKey: { name: 'tokens', key: 'sealing' },
  },
  upstreamUsername: 'portico',
  tracingEndpoint: 'http://otel-collector.monitoring:4318',
  env: [{ name: 'PORTICO_LOG_LEVEL', value: 'warn' }],
  service: { type: 'LoadBalancer', port: 8080, annotations: { 'example.org/internal': 'true' } },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { 'example.org/team': 'community' },
    hosts: ['qa.example.org', 'answers.example.org'],
    tls: [{ hosts: ['qa.example.org'], secretName: 'qa-tls' }],
  },
  autoscaling: { enabled: true },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  extraVolumes: [{ name: 'authorities', configMap: { name: 'authorities' } }],
  extraVolumeMounts: [{ name: 'authorities', mountPath: '/etc/authorities', readOnly: true }],
  networkPolicy: {
    clients: [{ podSelector: { matchLabels: { app: 'web' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.1.2.3/32' } }], ports: [{ port: 443, protocol: 'TCP' }] }],
  },
  podAnnotations: { 'example.org/team': 'community' },
  podLabels: { team: 'community' },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'gateways', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
};
const MINIMAL: ChartValues = {
  podDisruptionBudget: { enabled: false },
  networkPolicy: { enabled: false },
  replicas: 1,
};
const SETS = { 'the default values': {}, 'all features': FULL, 'the fewest objects': MINIMAL };

function objects(values: ChartValues, release?: string): Manifest[] {
  const documents = parseAllDocuments(renderedManifests(values, release), { version: '1.1' });
  expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  return documents.map((one) => one.toJS() as Manifest);
}

const find = (all: readonly Manifest[], kind: Kind, name = 'portico') => {
  const found = all.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const podOf = (all: readonly Manifest[]) => find(all, 'Deployment').spec.template;
const isSubset = (part: Labels, whole: Labels) => Object.entries(part).every(([key, value]) => whole[key] === value);

describe('the Helm chart', () => {
  it.each(Object.entries(SETS))('matches the schemas of Kubernetes with %s', (_, values) => {
    const all = objects(values);
    expect(all.length).toBeGreaterThan(3);
    for (const one of all) new KINDS[one.kind][0](one as never).validate();
  });

  // The schemas allow unknown members, which the API server ignores with a warning. The types do not allow them.
  it('uses only members that Kubernetes knows', () => {
    const folder = tempFolder();
    const imports = Object.entries(KINDS).map(([kind, [, module]]) => `import type { I${kind} } from '${module}';`);
    const constants = Object.values(SETS)
      .flatMap((values) => objects(values))
      .map((one, at) => `export const object${at}: I${one.kind} = ${JSON.stringify(one, undefined, 1)};`);
    const wrong = `// @ts-expect-error
export const wrong: IServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', automountToken: false };`;
    writeFileSync(join(folder, 'objects.ts'), [...imports, ...constants, wrong].join('\n'));
    symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler'];
    const compiler = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout, status } = spawnSync(process.execPath, [compiler, ...options, 'objects.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([stdout, status]).toEqual(['', 0]);
  });

  it('is the source of deploy/kubernetes.yaml', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(packageRoot, 'tools', 'render-chart.ts'), '--check'], {
      encoding: 'utf8',
    });
    expect([stderr, status]).toEqual(['', 0]);
  });

  it('has the version of the program', () => {
    const chart = parse(deployFile('helm', 'portico', 'Chart.yaml')) as { version: string; appVersion: string };
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
    expect(chart).toMatchObject({ version, appVersion: version });
  });

  it.each(Object.entries(SETS))('contains a configuration without errors with %s', (_, values) => {
    expect(faultsOf(find(objects(values), 'ConfigMap').data['portico.yaml'] ?? '')).toEqual([]);
  });

  it.each(Object.entries(SETS))('gives a pod enough time to stop with %s', (_, values) => {
    const all = objects(values);
    const config = parse(find(all, 'ConfigMap').data['portico.yaml'] ?? '') as { listen?: Record<string, number> };
    const { lameDuckSeconds, drainSeconds } = { ...LISTEN_DEFAULTS, ...config.listen };
    const { terminationGracePeriodSeconds, containers } = podOf(all).spec;
    const pause = containers[0].lifecycle.preStop.sleep.seconds;
    expect(terminationGracePeriodSeconds).toBe(pause + lameDuckSeconds + drainSeconds + 5);
  });

  it('runs the image as its user, with its volume and without privileges', () => {
    const { user, volume } = imageSettings();
    const { spec } = podOf(objects({}));
    const [container] = spec.containers;
    expect(user).toBe(`${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`);
    expect(spec.securityContext.fsGroup).toBe(spec.securityContext.runAsGroup);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(expect.arrayContaining([volume, '/tmp']));
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(spec.volumes.map(({ name }) => name));
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual(
      /^EXPOSE (.+)$/m.exec(deployFile('Dockerfile'))?.[1]?.split(' ').map(Number),
    );
  });

  it('selects its pods, and only the ports that they have', () => {
    const all = objects(FULL);
    const pod = podOf(all);
    const ports = pod.spec.containers[0].ports.map(({ name }) => name);
    const services = all.filter(({ kind }) => kind === 'Service');
    expect(services.map(({ metadata }) => metadata.name).toSorted()).toEqual(['portico', 'portico-admin']);
    for (const { spec } of services) {
      expect(isSubset(spec.selector, pod.metadata.labels)).toBe(true);
      expect(ports).toEqual(expect.arrayContaining(spec.ports.map(({ targetPort }) => targetPort)));
    }
    for (const { matchLabels } of [
      find(all, 'Deployment').spec.selector,
      find(all, 'PodDisruptionBudget').spec.selector,
      find(all, 'NetworkPolicy').spec.podSelector,
    ])
      expect(isSubset(matchLabels, pod.metadata.labels)).toBe(true);
    expect(find(all, 'HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe('portico');
    expect(find(all, 'Deployment').spec.replicas).toBeUndefined();
  });

  it('exposes the admin side only to operators, and only the public side to clients', () => {
    const all = objects(FULL);
    expect(find(all, 'Service').spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
    const { policyTypes, ingress } = find(all, 'NetworkPolicy').spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(ingress.map(({ ports, from }) => [ports[0]?.port, from?.length])).toEqual([
      ['http', 1],
      ['admin', 1],
    ]);
    const closed = find(objects({ networkPolicy: { operators: [] } }), 'NetworkPolicy').spec.ingress;
    expect(closed.map(({ ports }) => ports[0]?.port)).toEqual(['http']);
  });

  it('lets Prometheus find every pod under the job name of the alert rules, including those that are not ready', () => {
    for (const release of ['portico', 'blue', 'portico-blue']) {
      const all = objects(FULL, release);
      const { jobLabel, selector, endpoints } = find(all, 'ServiceMonitor', nameOf(release)).spec;
      const found = all.filter((one) => one.kind === 'Service' && isSubset(selector.matchLabels, one.metadata.labels));
      expect(found.map(({ spec }) => [spec.publishNotReadyAddresses, spec.ports[0]?.name])).toEqual([
        [true, endpoints[0]?.port],
      ]);
      expect(found[0]?.metadata.labels[jobLabel]).toBe('portico');
    }
  });

  it('names each instance of a fleet after its pod', () => {
    const { env } = podOf(objects({})).spec.containers[0];
    expect(env).toContainEqual({ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } });
  });

  it('replaces the pods if the configuration changes, and only then', () => {
    const sum = (values: ChartValues) => podOf(objects(values)).metadata.annotations['checksum/config'];
    expect(sum({})).toBe(sum({ replicas: 5 }));
    expect(sum({ files: { 'overlay.yaml': 'overlay: 1.0.0' } })).not.toBe(sum({}));
  });

  it('contains no secret, only the names of secrets', () => {
    const kinds = Object.values(SETS).flatMap((values) => objects(values).map(({ kind }) => kind));
    expect(kinds).not.toContain('Secret');
    const { env } = podOf(objects(FULL)).spec.containers[0];
    const secrets = env.filter(({ name }) => /TOKEN|PASSWORD|REDIS/.test(name));
    expect(secrets.map(({ name, value }) => `${name}=${value}`)).toEqual([
      'PORTICO_ADMIN_TOKEN_FILE=/run/secrets/portico/admin-token',
      'UPSTREAM_PASSWORD_FILE=/run/secrets/portico/upstream-password',
      'REDIS_URL_FILE=/run/secrets/portico/redis-url',
      'PORTICO_TOKENS_KEY_FILE=/run/secrets/portico/tokens-key',
      'PORTICO_TOKENS_SEALING_KEY_FILE=/run/secrets/portico/tokens-sealing-key',
    ]);
  });

  it('has none of the optional objects by default', () => {
    const kinds = objects({}).map(({ kind }) => kind);
    for (const kind of ['Ingress', 'PrometheusRule', 'ServiceMonitor', 'HorizontalPodAutoscaler'])
      expect(kinds).not.toContain(kind);
    const { containers, volumes } = podOf(objects({})).spec;
    expect(volumes.map(({ name }) => name)).toEqual(['config', 'secrets', 'data', 'tmp']);
    expect(containers[0].env.map(({ name }) => name)).not.toContain('PORTICO_ROLES');
  });

  it('routes each host of the Ingress to the port of the public side', () => {
    const all = objects(FULL, 'blue');
    const { rules, ingressClassName } = find(all, 'Ingress', 'blue-portico').spec;
    const service = find(all, 'Service', 'blue-portico');
    expect(ingressClassName).toBe('nginx');
    expect(rules.map(({ host }) => host)).toEqual(['qa.example.org', 'answers.example.org']);
    for (const { http } of rules)
      expect(http.paths.map(({ path, backend }) => [path, backend.service])).toEqual([
        ['/', { name: service.metadata.name, port: { name: service.spec.ports[0]?.name } }],
      ]);
    expect(service.spec.ports[0]?.targetPort).toBe('http');
  });

  it('contains exactly the rules in config/prometheus, and the labels by which Prometheus selects them', () => {
    const { metadata, spec } = find(objects(FULL), 'PrometheusRule');
    const groups = ['recording.yml', 'alerts.yml'].flatMap(
      (file) =>
        (parse(readFileSync(join(packageRoot, 'config', 'prometheus', file), 'utf8')) as { groups: object[] }).groups,
    );
    expect(groups.length).toBeGreaterThan(5);
    expect(spec.groups).toEqual(groups);
    expect(metadata.labels).toMatchObject({ release: 'prometheus' });
  });

  it('mounts a roles file from a Secret in place of the value, where the pod reads it', () => {
    const roles = { name: 'portico-roles', key: 'roles' };
    const all = objects({ secrets: { roles } });
    expect(find(all, 'ConfigMap').data).not.toHaveProperty('roles.yaml');
    expect(find(objects({}), 'ConfigMap').data).toHaveProperty('roles.yaml');
    const { containers, volumes } = podOf(all).spec;
    const { sources } = volumes.find(({ name }) => name === 'secrets')?.projected ?? { sources: [] };
    const item = { secret: { name: 'portico-roles', items: [{ key: 'roles', path: 'roles.yaml' }] } };
    expect(sources).toContainEqual(item);
    const mount = containers[0].volumeMounts.find(({ name }) => name === 'secrets')?.mountPath ?? '';
    expect(containers[0].env).toContainEqual({ name: 'PORTICO_ROLES', value: `${mount}/roles.yaml` });
  });

  it('mounts additional volumes', () => {
    const { containers, volumes } = podOf(objects(FULL)).spec;
    expect(volumes.map(({ name }) => name)).toEqual(['config', 'secrets', 'data', 'tmp', 'authorities']);
    expect(containers[0].volumeMounts.at(-1)).toMatchObject({ name: 'authorities', mountPath: '/etc/authorities' });
  });

  it.each([
    ['a token in the configuration', { config: 'mode: strict\nadminToken: abcdef' }],
    ['a password in the configuration', { config: 'upstream: { credentials: { username: a, password: b } }' }],
    ['an address with a password', { config: 'redis: { url: rediss://portico:secret@redis:6379 }' }],
    ['a token in a variable', { env: [{ name: 'PORTICO_ADMIN_TOKEN', value: 'abcdef' }] }],
    ['no admin token', { secrets: { adminToken: { name: '', key: 'admin-token' } } }],
    ['a path of the roles file in a variable', { env: [{ name: 'PORTICO_ROLES', value: '/tmp/roles.yaml' }] }],
    ['an Ingress without a host', { ingress: { enabled: true } }],
    ['an additional volume with a name of the chart', { extraVolumes: [{ name: 'secrets', emptyDir: {} }] }],
    ['a mount over the secrets', { extraVolumeMounts: [{ name: 'a', mountPath: '/run/secrets/portico' }] }],
    ['a mount in the configuration folder', { extraVolumeMounts: [{ name: 'a', mountPath: '/etc/portico/tls' }] }],
    ['a misspelled value of the rules', { prometheusRule: { enable: true } }],
    ['the tag latest', { image: { tag: 'latest' } }],
    ['a misspelled value', { replicaCount: 3 }],
    ['a file that replaces the configuration', { files: { 'portico.yaml': 'mode: strict' } }],
    ['a configuration that is not text', { config: { mode: 'strict' } }],
  ])('refuses %s', (_, values) => {
    expect(() => renderChart(values)).toThrow('values.schema.json refuses the values');
  });

  it('describes every value in its schema', () => {
    const { properties } = JSON.parse(deployFile('helm', 'portico', 'values.schema.json')) as { properties: object };
    const values = parse(deployFile('helm', 'portico', 'values.yaml')) as object;
    expect(Object.keys(values)).toEqual(Object.keys(properties).filter((name) => name !== 'global'));
  });

  it('prints how to reach the console and how to create the secret', () => {
    const notes = renderChart({}, 'blue').get('NOTES.txt');
    expect(notes).toContain('in front of http://legacy.example.svc/qa.');
    expect(notes).toContain('create secret generic portico --from-literal=admin-token=');
    expect(notes).toContain('port-forward deployment/blue-portico 8081');
    expect(notes).toContain('Without Redis');
    expect(renderChart(FULL).get('NOTES.txt')).not.toContain('Without Redis');
  });
});

const nameOf = (release: string) => (release.includes('portico') ? release : `${release}-portico`);
