import type { Settings } from '../../engine/config/settings.ts';
import { featuresInUse } from '../../engine/config/configurable.ts';
import { isLoopbackHost } from '../../lib/network-address.ts';
import { CHECK_NAMES, type CheckLevel } from '../../engine/model/checks.ts';
import type { Fault } from '../../engine/model/fault.ts';
import type { LevelChange } from '../../engine/model/in-force.ts';
import { trimEndOf } from '../../lib/trim-end.ts';

/** The content of the banner. */
export interface BannerContent {
  readonly settings: Settings;
  readonly version: string;
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** The URL of the server that stands in for the upstream, and what it is. Undefined if the upstream is a real server. */
  readonly standIn: string | undefined;
  /** The names of the demo accounts, which are also their passwords. */
  readonly accounts: readonly string[];
  /** What differs from the configuration, by operation. */
  readonly changes: readonly (readonly [operation: string, change: LevelChange])[];
}

/**
 * Returns the lines that `serve` prints at startup: the addresses, the mode, the upstream, the accounts, and commands
 * to try.
 */
export function bannerLines(content: BannerContent): string[] {
  const { settings } = content;
  const base = `${trimEndOf(content.publicUrl, '/')}${basePathOnce(content)}${trimEndOf(content.settings.profile.basePath, '/')}`;
  return [
    `Portico ${content.version}`,
    `  public    ${base}`,
    `  admin     ${content.adminUrl}  (/console/ /livez /readyz /upstreamz /metrics)`,
    `  upstream  ${content.standIn ?? settings.upstream.url ?? 'none'}`,
    `  mode      ${settings.mode.name}: ${levelWords(settings)}`,
    ...contractLines(settings),
    ...content.changes.map(
      ([operation, { decidedBy, words, toSee }]) => `  ${decidedBy.padEnd(8)}  ${operation} ${words}  (${toSee})`,
    ),
    ...(content.accounts.length === 0 ? [] : [`  accounts  ${content.accounts.join(', ')}  (password = name)`]),
    ...exposureLines(content),
    ...notEnforcedLines(settings, content.adminUrl),
    '',
    ...tryLines(content, base),
  ];
}

// Returns the base path, or an empty string if the public URL already ends with it.
function basePathOnce({ settings, publicUrl }: BannerContent): string {
  return trimEndOf(publicUrl, '/').endsWith(settings.publicBasePath) ? '' : settings.publicBasePath;
}

function contractLines(settings: Settings): string[] {
  const words = contractWords(settings);
  return words.length === 0 ? [] : [`  contract  ${words.join(', ')}`];
}

function levelWords({ checks, mode }: Settings): string {
  const at = (level: CheckLevel) => CHECK_NAMES.filter((name) => checks[name] === level);
  const words = (verb: string, level: CheckLevel) =>
    at(level).length === 0 ? [] : [`${verb} ${at(level).join(', ')}`];
  const levels = [
    ...words('enforces', 'enforce'),
    ...words('reports', 'report'),
    ...words('skips', 'off'),
    ...(refusesWritesAnyway({ checks, mode }) ? ['refuses undocumented writes'] : []),
  ];
  return at('enforce').length === 0 ? ['enforces nothing', ...levels].join('; ') : levels.join('; ');
}

/**
 * Returns whether writes to undocumented paths are refused even though the check of these paths is not enforced
 * (docs/rules.md §11).
 */
const refusesWritesAnyway = ({ checks, mode }: Pick<Settings, 'checks' | 'mode'>) =>
  !mode.transparent && checks.undocumented !== 'enforce';

/**
 * Returns a warning if the demo accounts can be used from other machines. Their passwords are public, and one of the
 * accounts is an administrator.
 */
function exposureLines({ settings, accounts }: BannerContent): string[] {
  const { host } = settings.listen;
  if (accounts.length === 0 || isLoopbackHost(host)) return [];
  return ['', `WARNING: demo accounts with public passwords can be used from other machines (HOST is ${host}).`];
}

function notEnforcedLines({ checks, mode }: Settings, adminUrl: string): string[] {
  if (CHECK_NAMES.some((name) => checks[name] === 'enforce')) return [];
  return [
    '',
    mode.transparent
      ? 'NOTHING IS ENFORCED YET: all requests are forwarded; requests that would be refused are only counted.'
      : 'NO CHECK IS ENFORCED YET: requests that would be refused are only counted, except undocumented writes.',
    `  Watch   curl -s ${adminUrl}/metrics | grep 'outcome="reported"'`,
    ...(mode.name === 'observe'
      ? ['  Next    set PORTICO_MODE=staging once no legitimate requests are reported, then PORTICO_MODE=strict']
      : ['  Next    raise the levels under checks: in the configuration']),
  ];
}

function tryLines(content: BannerContent, base: string): string[] {
  const { examples } = content.settings.profile;
  const [account] = content.accounts.includes('alice') ? ['alice'] : content.accounts;
  const user = account === undefined ? '-u NAME:PASSWORD' : `-u ${account}:${account}`;
  return [
    'Try',
    `  curl ${user} '${base}/${examples.accepted}'`,
    `  curl ${user} '${base}/${examples.invalid}'`,
    `  curl ${user} -i '${base}/${examples.restricted}'`,
    `  curl -s ${content.adminUrl}/metrics | grep ^portico_checks_total`,
  ];
}

/** Describes the overlays and what features say about the contract. The list can be empty. */
export function contractWords(settings: Settings): string[] {
  return [
    ...overlayWords(settings.contract.overlays),
    ...featuresInUse(settings).flatMap(({ configurable, options }) => configurable.contractWords?.(options) ?? []),
  ];
}

function overlayWords(overlays: readonly string[]): string[] {
  if (overlays.length === 0) return [];
  return [overlays.length === 1 ? '1 overlay' : `${overlays.length} overlays`];
}

/** Formats each startup warning as one line. */
export function warningLines(warnings: readonly Fault[]): string[] {
  return warnings.map(({ source, pointer, message }) => `warning: ${source} ${pointer}: ${message}`);
}
