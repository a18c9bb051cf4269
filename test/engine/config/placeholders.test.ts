import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSecretFile } from '../../../src/lib/secret-file.ts';
import { isPlaceholder, isPlaceholderSecret } from '../../../src/lib/placeholder.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { faultsOf } from './load-in-folder.ts';

const PLACEHOLDERS = [
  '${TOKEN_OF_ADMIN}',
  '$(cat /run/secrets/token)',
  '{{ .Values.adminToken }}',
  '<your-token>',
  '<admin token>',
  'CHANGE_ME',
  'changeme',
  'change-me-please',
  'Bearer ${KEY}',
  'your-admin-token',
  'put-your-token-here',
  '__ADMIN_TOKEN__',
  '@ADMIN_TOKEN@',
  '%ADMIN_TOKEN%',
  'xxxxxxxxxx',
];

describe('a placeholder', () => {
  it.each(PLACEHOLDERS)('%s is recognized', (text) => {
    expect(isPlaceholder(text)).toBe(true);
  });

  it.each([
    'cGFzc3dvcmQtaXMtbm90LWhlcmU=',
    'correct horse battery staple',
    'p$ssw{rd}<3>%%',
    'https://qa.example.org/real-answers',
    'https://todos.example.org/todo',
    'http://exchange.example.org',
    'redis://user:a%40b%3Cc%3E@redis.internal:6379/0',
    'http://[::1]:8080',
    '50%OFF%50',
    'k7<Tq9>w!$(Q)z',
    'aB__CD__ef@GH@ij%KL%mn',
    'http://my-server:8080/qa',
    'https://your-host.example.org/qa',
    'https://the-site.example.org',
    'https://change-me.example.org',
    'https://qa.example.org/your-token/password-here',
    'redis://my-user:my-password-1@my-redis:6379',
    'placeholder.example.org',
    'http://todo',
    'my-server',
    'your-host',
    'https://key-here.example.org/replace-with-care',
  ])('%s is none', (text) => {
    expect(isPlaceholder(text)).toBe(false);
  });

  it.each([
    'https://${HOST}/qa',
    'https://<your-server>/qa',
    'http://CHANGE_ME:8080',
    'http://qa-${ENV}.example.org',
    '{{ url }}',
  ])('%s is recognized as an address of a template', (text) => {
    expect(isPlaceholder(text)).toBe(true);
  });

  it.each([
    'changeme-1234567890',
    'CHANGE_ME_1234567890',
    'my-change.me-secret',
    '1234ChangeMe5678',
    'redis://:changeme1@redis.internal:6379',
    'authorization=Bearer change-me-now',
    'only-for-the-demonstration-8f3a',
  ])('%s is recognized in a secret', (text) => {
    expect(isPlaceholderSecret(text)).toBe(true);
  });

  it.each(['exchange-medium-4711', 'changemaker-2026-x', 'Zm9yLWNoYW5nZS1tZQ==', 'correct horse battery staple'])(
    '%s is none in a secret',
    (text) => {
      expect(isPlaceholderSecret(text)).toBe(false);
    },
  );

  const REAL = 'upstream: { url: "http://127.0.0.1:9" }\n';

  it.each([
    ['/adminToken', 'listen: { adminHost: 0.0.0.0 }\nadminToken: "${ADMIN_TOKEN_VALUE}"', 'PORTICO_ADMIN_TOKEN'],
    [
      '/upstream/url',
      'upstream: { url: "https://<your-server>/qa", alternates: ["http://127.0.0.1:9"] }',
      'UPSTREAM_URL',
    ],
    [
      '/upstream/alternates/0',
      'upstream: { url: "http://127.0.0.1:9", alternates: ["http://{{ other }}"] }',
      'real value',
    ],
    [
      '/upstream/credentials/password',
      'mode: strict\nupstream: { url: "http://127.0.0.1:9", credentials: { kind: service, username: portico, password: CHANGE_ME } }',
      'UPSTREAM_PASSWORD',
    ],
    ['/adminToken', `${REAL}adminToken: changeme-1234567890`, 'PORTICO_ADMIN_TOKEN'],
    ['/adminToken', `${REAL}adminToken: only-for-the-demonstration-8f3a`, 'PORTICO_ADMIN_TOKEN'],
    ['/redis/url', `${REAL}redis: { url: "redis://:change-me-1@127.0.0.1" }`, 'REDIS_URL'],
    ['/redis/url', `${REAL}redis: { url: "redis://\${REDIS_HOST}:6379" }`, 'REDIS_URL'],
    ['/redis/password', `${REAL}redis: { url: "redis://127.0.0.1", password: changeme }`, 'real value'],
    [
      '/tracing/endpoint',
      `${REAL}tracing: { endpoint: "http://<collector-host>:4318" }`,
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ],
    [
      '/tracing/headers',
      `${REAL}tracing: { endpoint: "http://127.0.0.1:4318", headers: "authorization=<your-key>" }`,
      'OTEL',
    ],
    ['/publicOrigin', `${REAL}publicOrigin: "https://{{ host }}"`, 'real value'],
    ['/cors/origins/0', `${REAL}mode: strict\ncors: { origins: ["https://<your-site>"] }`, 'real value'],
    ['/adminTokenFile', `${REAL}adminTokenFile: "\${CREDENTIALS_DIRECTORY}/token"`, 'PORTICO_ADMIN_TOKEN_FILE'],
    ['/listen/host', `${REAL}listen: { host: "\${HOST}" }`, 'HOST'],
  ])('in %s is the only error, which names the key and the fix', (pointer, yaml, fix) => {
    const faults = faultsOf(yaml);
    expect(faults).toEqual([
      {
        source: expect.stringMatching(/portico\.yaml:\d+$/) as string,
        pointer,
        message: 'is a placeholder that has not been replaced',
        suggestion: expect.stringContaining(fix) as string,
      },
    ]);
    expect(JSON.stringify(faults)).not.toMatch(/\$\{|\{\{|<|CHANGE_ME|changeme|your-/);
  });

  it.each([
    ['UPSTREAM_URL', '${UPSTREAM_URL}'],
    ['PORTICO_ADMIN_TOKEN', 'CHANGE_ME'],
    ['REDIS_URL', 'redis://<your-redis>:6379'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization={{ key }}'],
  ])('in the variable %s is an error that names the variable', (name, value) => {
    const faults = faultsOf('', { env: { [name]: value } });
    expect(faults).toMatchObject([{ source: name, message: 'is a placeholder that has not been replaced' }]);
    expect(JSON.stringify(faults)).not.toContain(value);
  });

  it('in the variable that holds the password is an error', () => {
    const yaml =
      'mode: strict\nupstream: { url: "http://127.0.0.1:9", credentials: { kind: service, username: portico, passwordEnv: SECRET } }';
    expect(faultsOf(yaml, { env: { SECRET: '${SECRET}' } })).toMatchObject([
      { pointer: '/upstream/credentials', message: 'the variable SECRET is a placeholder that has not been replaced' },
    ]);
  });

  it('in a secret file is an error that names the file', () => {
    const file = join(tempFolder(), 'token');
    writeFileSync(file, '<your-token>\n', { mode: 0o600 });
    const fault = `the first line of the file ${file} is a placeholder that has not been replaced`;
    expect(readSecretFile(file)).toEqual({ fault });
    expect(faultsOf(`adminTokenFile: ${file}`)).toMatchObject([{ pointer: '/adminTokenFile', message: fault }]);
  });
});

describe('a configuration that cannot be read', () => {
  it.each([
    'upstream:\n  url: http://127.0.0.1:9\n adminToken: "x',
    'mode: strict\nmode: staging',
    'upstream: [',
    '- a\n- b',
  ])('%j has only errors of the syntax', (yaml) => {
    const faults = faultsOf(yaml, {
      env: { ADMIN_HOST: '0.0.0.0', UPSTREAM_URL: 'http://127.0.0.1:9', PORTICO_MODE: 'observe' },
    });
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.map(({ pointer }) => pointer)).toEqual(faults.map(() => ''));
    expect(faults.every(({ source }) => source.includes('portico.yaml'))).toBe(true);
  });

  it('does not claim what follows from the default of an invalid value', () => {
    const pointers = (yaml: string) => faultsOf(yaml).map(({ pointer }) => pointer);
    expect(
      pointers('mode: strickt\nupstream: { url: "http://127.0.0.1:9" }\ncache: { enabled: true }\nrewriteUrls: true'),
    ).toEqual(['/mode']);
    expect(pointers('upstream: { url: 3, alternates: ["http://127.0.0.1:9"] }')).toEqual(['/upstream/url']);
  });
});
