import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS, PROGRAM } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { createCertificate } from '../builders/certificates.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { processIoOf } from './process-io-of.ts';

/** The words of parsers, libraries and of the runtime, which mean nothing to users. */
const INNER_WORDS =
  /\w+Error\b|Error:|must NOT|must be (?:object|array|integer)\b|YAML|parse[A-Z]|fetch failed|undefined|\[object|NaN|^ +at /m;

/** A code is only the second word of a reason. */
const CODE_ALONE = /(?:[:(]|^) ?E[A-Z]{3,}\b(?!\))/m;

const folder = mkdtempSync(join(tmpdir(), 'portico-words-'));

const FILES: Readonly<Record<string, string>> = {
  'plain.txt': 'just text',
  'empty.txt': '',
  'list.yaml': '[1, 2]\n',
  'quote.yaml': 'mode: strict\nlisten:\n  host: "127.0.0.1\n  port: [1\nx: y: z\n',
  'bracket.yaml': 'roles: [\n  a: {}\n  b: }\n',
  'commas.json': '{"roles": {},, "accounts": [}',
  'ended.json': '{"roles": {',
  'unknown.yaml': 'mod: strict\nrolse: {}\nlistn: 1\n',
  'types.yaml': 'mode: 1\nroles: 2\nlisten: 3\noverlay: 4\naccepted: 5\nadminToken: 6\n',
  'short.yaml': 'adminToken: x\nroles: { "": {} }\n',
  'null.yaml': 'roles: *nothing\n',
};
/** The files whose syntax is invalid, whatever reads them. */
const BROKEN: ReadonlySet<string> = new Set(['quote.yaml', 'bracket.yaml', 'commas.json', 'ended.json', 'null.yaml']);
const PATHS = [...Object.keys(FILES), 'absent.yaml', 'folder', 'plain.txt/below', 'circle'];

/** A configuration key for each kind of file, and the configuration in which FILE stands for the file. */
const READERS: readonly (readonly [kind: string, config: string])[] = [
  ['roles', '{ roles: { file: FILE } }'],
  ['overlay', '{ contract: { overlays: [FILE] } }'],
  ['baseline', '{ contract: { baseline: FILE } }'],
  ['contract', '{ contract: { folder: FILE } }'],
  ['levels', '{ levels: { file: FILE } }'],
  ['observations', '{ learn: { traffic: true, file: FILE } }'],
  ['admin token', '{ adminTokenFile: FILE }'],
  ['certificate', '{ listen: { tls: { certFile: FILE, keyFile: FILE, passphraseFile: FILE, clientCaFile: FILE } } }'],
  ['Redis URL', '{ redis: { urlFile: FILE } }'],
  ['Redis certificate', '{ redis: { url: "rediss://127.0.0.1:1", tls: { caFile: FILE } } }'],
  ['tracing headers', '{ tracing: { endpoint: "http://127.0.0.1:1", headersFile: FILE } }'],
];
/** The readers of YAML. All of them report the syntax in the same way. */
const YAML_READERS: ReadonlySet<string> = new Set(['roles', 'overlay', 'baseline']);

const servers: Server[] = [];
const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    servers.push(server);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  mkdirSync(join(folder, 'folder'));
  symlinkSync('circle', join(folder, 'circle'));
});

afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

/** Runs a command in the folder, and checks that its messages contain no inner words. */
async function messagesOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { io, text } = processIoOf(folder, {
    env: { PORTICO_ROLES: join(packageRoot, 'config', 'roles.yaml'), ...env },
  });
  const code = await runProgram(PROGRAM, argv, io);
  // The file and its folder have names of their own.
  const words = text.err.replaceAll(folder, '').replaceAll(/[\w-]+\.yaml/g, 'FILE');
  expect(words, argv.join(' ')).not.toMatch(INNER_WORDS);
  expect(words, argv.join(' ')).not.toMatch(CODE_ALONE);
  expect(words, argv.join(' ')).not.toContain('in Portico itself');
  return { code, err: text.err };
}

describe('a file that cannot be used', () => {
  it.each(PATHS)('is named in plain words, as the configuration: %s', async (path) => {
    const { code, err } = await messagesOf(['check', '--config', path]);
    if (path === 'empty.txt') expect(code).toBe(0);
    else expect([code, err]).toEqual([1, expect.stringContaining(path)]);
    if (BROKEN.has(path)) expect(err).toMatch(/: 1 configuration error\n {2}[^ ]+:\d+\n {4}\S.*\n$/);
  });

  describe.each(READERS)('as the file of %s', (kind, config) => {
    it.each(PATHS)('is named in plain words: %s', async (path) => {
      writeFileSync(join(folder, 'reader.conf'), config.replaceAll('FILE', `"./${path}"`), { mode: 0o600 });
      const env = kind === 'roles' ? { PORTICO_ROLES: '' } : {};
      const { code, err } = await messagesOf(['check', '--config', 'reader.conf'], env);
      if (code === 1) expect(err).toMatch(new RegExp(`${path.replace('.', '\\.')}|reader\\.conf:1`));
      if (BROKEN.has(path) && YAML_READERS.has(kind))
        expect(err).toMatch(/: 1 configuration error\n {2}\S+:\d+\n {4}\S.*\n$/);
    });
  });

  it.each([
    [['report', '--ledger']],
    [['report', '--allow-empty', '--baseline']],
    [['report', '--compare', 'none']],
    [['report', '--output']],
    [['learn', '--observations']],
    [['schemas', '--check', '--folder']],
    [['doctor', 'http://127.0.0.1:9', '--yes', '--user', 'a', '--password-file']],
    [['doctor', 'http://127.0.0.1:9', '--yes', '--output']],
    [['ladder', '--config']],
    [['audit', '--config']],
    [['plan', '--config']],
    [['permissions', '--config']],
    [['explain', '/services/v2/question.json', '--config']],
    [['learn', '--config']],
    [['reload', '--config']],
    [['override', 'list', '--config']],
    [['schemas', '--check', '--config']],
    [['serve', '--port', 'x', '--config']],
    [['init']],
  ])('is named in plain words by portico %j', async (argv) => {
    // The commands that write would use these files.
    const isWritten = ['--output', 'init'].includes(argv.at(-1) ?? '');
    for (const path of isWritten ? ['folder', 'plain.txt/below', 'circle'] : PATHS) await messagesOf([...argv, path]);
  });
});

describe('a server that does not respond as expected', () => {
  it('is named in plain words with the likely reason', async () => {
    const closing = await listening(createServer((socket) => socket.destroy()));
    const text = await listening(createServer((socket) => socket.end('hello\r\n\r\n')));
    const website = await listening(
      createHttpServer((_request, response) => void response.writeHead(302, { Location: '/' }).end('{}')),
    );
    const { cert, key } = createCertificate({ name: 'self-signed' });
    const untrusted = await listening(createTlsServer({ cert, key }, (socket) => socket.end()));
    const addresses = [
      'http://127.0.0.1:1',
      'http://nowhere.invalid:8080',
      `http://127.0.0.1:${closing}`,
      `http://127.0.0.1:${text}`,
      `http://127.0.0.1:${website}`,
      `https://127.0.0.1:${closing}`,
      `https://127.0.0.1:${text}`,
      `https://127.0.0.1:${untrusted}`,
      `http://127.0.0.1:${untrusted}`,
    ];
    const probe = async (url: string) => {
      for (const argv of [
        ['check', '--against', url, '--delay', '0', '--max-requests', '3'],
        ['doctor', url, '--yes', '--delay', '0', '--timeout', '2'],
        ['reload', '--admin', url],
        ['override', 'list', '--admin', url],
      ]) {
        const { code, err } = await messagesOf(argv);
        expect([code, err], argv.join(' ')).toEqual([1, expect.stringContaining(new URL(url).host)]);
      }
      await messagesOf(['learn', '--against', url, '--delay', '0', '--max-requests', '3']);
    };
    await Promise.all(addresses.map(probe));
    const trust = (await messagesOf(['check', '--against', `https://127.0.0.1:${untrusted}`])).err;
    expect(trust).toMatch(/the certificate is not trusted; add the authority .* \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
    const away = (await messagesOf(['reload', '--admin', 'http://127.0.0.1:9999'])).err;
    expect(away).toMatch(/the server does not accept connections on this port; check the port .* \(ECONNREFUSED\)/);
  }, 60_000);

  it('is named in plain words if it should be Redis', async () => {
    const closing = await listening(createServer((socket) => socket.destroy()));
    const { cert, key } = createCertificate({ name: 'self-signed' });
    const untrusted = await listening(createTlsServer({ cert, key }, (socket) => socket.end()));
    const refusing = await listening(
      createServer((socket) =>
        // The command may have closed the connection before it has read every response.
        socket
          .on('error', () => undefined)
          .on('data', (commands) => {
            for (const _command of commands.toString().matchAll(/^\*\d+\r$/gm))
              socket.write('-NOAUTH Authentication required.\r\n');
          }),
      ),
    );
    const hints: readonly (readonly [string, RegExp])[] = [
      ['redis://127.0.0.1:1', /does not accept connections on this port.*\(ECONNREFUSED\)/],
      ['redis://nowhere.invalid', /the host name cannot be resolved/],
      [`redis://127.0.0.1:${closing}`, /the connection is closed; check whether the URL leads to a Redis server/],
      [`rediss://127.0.0.1:${untrusted}`, /the certificate is not trusted; set redis\.tls\.caFile/],
      [`redis://127.0.0.1:${refusing}`, /the server requires a password; set redis\.password/],
    ];
    // On a busy machine, the reason may arrive after the default timeout.
    const config = join(tempFolder(), 'portico.yaml');
    writeFileSync(config, JSON.stringify({ redis: { connectTimeoutMs: 10_000 } }));
    const probe = async ([url, hint]: (typeof hints)[number]) => {
      const { code, err } = await messagesOf(['report'], { REDIS_URL: url, PORTICO_CONFIG: config });
      expect([code, err], url).toEqual([1, expect.stringMatching(hint)]);
    };
    await Promise.all(hints.map(probe));
  }, 60_000);
});

describe('the value of a flag', () => {
  /** The arguments without which a command would stop before it reads its flags. */
  const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
    compare: ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
    completion: ['bash'],
    doctor: ['http://127.0.0.1:1', '--yes'],
    explain: ['/services/v2/question.json'],
    override: ['set', 'listQuestions', 'disable'],
  };
  /** The flags with which these commands would start a server or write files. */
  const STARTING: Readonly<Record<string, readonly string[]>> = {
    serve: ['config', 'mode', 'upstream', 'host', 'admin-host', 'db', 'fault', 'tracker'],
    reference: ['host', 'base-path', 'db', 'fault', 'tracker'],
    init: ['upstream'],
    compare: ['save-ids', 'propose-noise', 'resume'],
  };

  it.each(COMMANDS)(
    'of portico $name is refused in plain words',
    async ({ name, load }) => {
      const { flags } = await load();
      for (const flag of flags.filter((one) => one.value !== undefined && one.name !== 'output')) {
        if (STARTING[name]?.includes(flag.name) === true) continue;
        for (const value of ['', 'nonsense', '-1', '99999999999999', '{"a":']) {
          const against =
            ['check', 'learn'].includes(name) && flag.name !== 'against' ? ['--against=http://127.0.0.1:1'] : [];
          const { code, err } = await messagesOf([
            name,
            ...(ARGUMENTS[name] ?? []),
            ...against,
            `--${flag.name}=${value}`,
          ]);
          if (flag.choices !== undefined)
            expect([code, err]).toEqual([
              expect.toBeOneOf([1, 2]),
              expect.stringMatching(/must be one of|cannot be used/),
            ]);
        }
      }
    },
    60_000,
  );
});
