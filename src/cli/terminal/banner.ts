import type { Settings } from '../../config/settings.ts';
import type { ContractOptions } from '../../contract/contract-options.ts';
import { isLoopbackHost } from '../../lib/is-loopback-host.ts';
import { CHECK_NAMES, type CheckLevel } from '../../model/checks.ts';
import type { Fault } from '../../model/fault.ts';

/** What the banner tells about. */
export interface BannerFacts {
  readonly settings: Settings;
  readonly version: string;
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Address of the embedded upstream; undefined with a real one. */
  readonly embeddedUrl: string | undefined;
  /** Names of the demo accounts; their passwords are their names. */
  readonly accounts: readonly string[];
  /** Levels that the ladder moved, in words. */
  readonly moved: readonly string[];
}

/** The lines that `serve` greets with: addresses, mode, upstream, accounts, and commands to try. */
export function bannerLines(facts: BannerFacts): string[] {
  const { settings } = facts;
  const base = `${facts.publicUrl.replace(/\/+$/, '')}${basePathOnce(facts)}/services/v2`;
  return [
    `Portico ${facts.version}`,
    `  public    ${base}`,
    `  admin     ${facts.adminUrl}  (/console/ /livez /readyz /metrics)`,
    `  upstream  ${upstreamWords(facts)}`,
    `  mode      ${settings.mode.name}: ${levelWords(settings)}`,
    ...contractLines(settings),
    ...facts.moved.map((words) => `  ladder    ${words}  (portico ladder)`),
    ...(facts.accounts.length === 0 ? [] : [`  accounts  ${facts.accounts.join(', ')}  (password = name)`]),
    ...exposureLines(facts),
    ...climbLines(settings, facts.adminUrl),
    '',
    ...tryLines(facts, base),
  ];
}

// The gateway's address may already end in the base path.
function basePathOnce({ settings, publicUrl }: BannerFacts): string {
  return publicUrl.replace(/\/+$/, '').endsWith(settings.publicBasePath) ? '' : settings.publicBasePath;
}

function upstreamWords({ settings, embeddedUrl }: BannerFacts): string {
  if (embeddedUrl === undefined) return settings.upstream.url ?? 'none';
  const faults = settings.reference.faults.length === 0 ? '' : `, faults: ${settings.reference.faults.join(', ')}`;
  return `${embeddedUrl}  (embedded reference server, ${settings.reference.db}${faults})`;
}

function contractLines({ contract }: Settings): string[] {
  const words = contractWords(contract);
  return words.length === 0 ? [] : [`  contract  ${words.join(', ')}`];
}

function levelWords({ checks }: Settings): string {
  const at = (level: CheckLevel) => CHECK_NAMES.filter((name) => checks[name] === level);
  const words = (verb: string, level: CheckLevel) =>
    at(level).length === 0 ? [] : [`${verb} ${at(level).join(', ')}`];
  const said = [...words('enforces', 'enforce'), ...words('reports', 'report'), ...words('leaves out', 'off')];
  return at('enforce').length === 0 ? ['enforces nothing', ...said].join('; ') : said.join('; ');
}

/** Everybody knows the passwords of the demo accounts, so whoever reaches the gateway is its administrator. */
function exposureLines({ settings, accounts }: BannerFacts): string[] {
  const { host } = settings.listen;
  if (accounts.length === 0 || isLoopbackHost(host)) return [];
  return ['', `WARNING: demo accounts with public passwords can be used from other machines (HOST is ${host}).`];
}

function climbLines({ checks, mode }: Settings, adminUrl: string): string[] {
  if (CHECK_NAMES.some((name) => checks[name] === 'enforce')) return [];
  return [
    '',
    'NOTHING IS ENFORCED YET: every request passes, and what would be refused is counted only.',
    `  Watch   curl -s ${adminUrl}/metrics | grep 'outcome="reported"'`,
    ...(mode.name === 'observe'
      ? ['  Climb   PORTICO_MODE=staging once nothing legitimate is reported any more, then PORTICO_MODE=strict']
      : ['  Climb   raise the levels under checks: in the configuration']),
  ];
}

function tryLines(facts: BannerFacts, base: string): string[] {
  const [account] = facts.accounts.includes('alice') ? ['alice'] : facts.accounts;
  const user = account === undefined ? '-u NAME:PASSWORD' : `-u ${account}:${account}`;
  return [
    'Try',
    `  curl ${user} '${base}/question.json?pageSize=3'`,
    `  curl ${user} '${base}/question.json?page=x'`,
    `  curl ${user} -i '${base}/group/1/user.json'`,
    `  curl -s ${facts.adminUrl}/metrics | grep ^portico_checks_total`,
  ];
}

/** What is applied to the contract and runs beside it, in a few words each; none for the contract as it is. */
export function contractWords({ overlays, candidate }: ContractOptions): string[] {
  return [
    ...overlayWords(overlays),
    ...(candidate === undefined ? [] : [['candidate beside it', ...overlayWords(candidate.overlays)].join(' with ')]),
  ];
}

function overlayWords(overlays: readonly string[]): string[] {
  if (overlays.length === 0) return [];
  return [overlays.length === 1 ? '1 overlay' : `${overlays.length} overlays`];
}

/** What is odd and no reason not to start, one line each. */
export function warningLines(warnings: readonly Fault[]): string[] {
  return warnings.map(({ source, pointer, message }) => `warning: ${source} ${pointer}: ${message}`);
}
