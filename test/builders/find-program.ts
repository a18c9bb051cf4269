import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * A system program that some tests run: its possible command names, the environment variable for its path, and its
 * Debian package.
 */
interface SystemProgram {
  readonly commands: readonly string[];
  readonly variable: string;
  readonly debianPackage: string;
}

const PROGRAMS = {
  promtool: { commands: ['promtool'], variable: 'PORTICO_PROMTOOL', debianPackage: 'prometheus' },
  prometheus: { commands: ['prometheus'], variable: 'PORTICO_PROMETHEUS', debianPackage: 'prometheus' },
  busybox: { commands: ['busybox'], variable: 'PORTICO_BUSYBOX', debianPackage: 'busybox' },
  chromium: {
    // The headless shell contains the same engine as the full browser, but uses about half as much CPU time.
    commands: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    variable: 'PORTICO_CHROMIUM',
    debianPackage: 'chromium-headless-shell',
  },
  redis: { commands: ['redis-server', 'valkey-server'], variable: 'PORTICO_REDIS', debianPackage: 'redis-server' },
  curl: { commands: ['curl'], variable: 'PORTICO_CURL', debianPackage: 'curl' },
  jq: { commands: ['jq'], variable: 'PORTICO_JQ', debianPackage: 'jq' },
  nginx: { commands: ['nginx', '/usr/sbin/nginx'], variable: 'PORTICO_NGINX', debianPackage: 'nginx-light' },
  'systemd-analyze': { commands: ['systemd-analyze'], variable: 'PORTICO_SYSTEMD_ANALYZE', debianPackage: 'systemd' },
} as const satisfies Record<string, SystemProgram>;

/** The name of a program that tests may use. */
export type ProgramName = keyof typeof PROGRAMS;

/** The path of a program, or advice on installing it. Tests that need a missing required program must fail. */
export type FoundProgram =
  { readonly path: string } | { readonly path: undefined; readonly advice: string; readonly required: boolean };

/** Looks for a program in its environment variable and on the PATH. In CI, the program is required. */
export function findProgram(
  name: ProgramName,
  env: Readonly<Record<string, string | undefined>> = process.env,
): FoundProgram {
  const { commands, variable, debianPackage } = PROGRAMS[name];
  const given = env[variable];
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates =
    given === undefined ? commands.flatMap((command) => folders.map((folder) => resolve(folder, command))) : [given];
  const path = candidates.find(isProgram);
  if (path !== undefined) return { path };
  return {
    path: undefined,
    advice:
      given === undefined
        ? `${name} is missing: apt-get install ${debianPackage}, or set ${variable} to where it is.`
        : `${variable} names ${given}, which is no program.`,
    required: env['PORTICO_REQUIRE_PROGRAMS'] === '1' || env['CI'] === 'true',
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
