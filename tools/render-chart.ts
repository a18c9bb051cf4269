import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import {
  createEngine,
  type Engine,
  type FuncMap,
  sprigConversions,
  sprigDefaults,
  sprigDicts,
  sprigFlow,
  sprigHash,
  sprigLists,
  sprigMath,
  sprigStrings,
} from '@promptctl/go-template-js';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse as parseYaml, stringify } from 'yaml';
import { readCommandLine } from './command-line.ts';

// Renders the Helm chart without Helm. The engine implements Go's templates and the Sprig functions. This file adds the
// parts that Helm itself provides: the scope, its own functions, and the validation of the values.

const HELP = `Renders the Helm chart deploy/helm/portico with its default values, writes the
result to deploy/kubernetes.yaml, and copies the Prometheus rules into the chart.

Usage: npm run chart [-- FLAGS]

  --check              Write nothing. Exit with 1 if a file would change.
  --help               Show this help.`;

const root = join(import.meta.dirname, '..');
const chartFolder = join(root, 'deploy', 'helm', 'portico');
const target = join(root, 'deploy', 'kubernetes.yaml');
/** Helm reads only files in the chart's folder, so the chart contains copies of the rules in config/prometheus. */
const RULES = ['recording.yml', 'alerts.yml'] as const;
const rulesFolder = join(chartFolder, 'rules');

const HEADER = `# Portico in Kubernetes, for those who do not use Helm: the chart deploy/helm/portico with its default values. Change the
# image, the address of the legacy server and the roles, and create the secret with the admin token:
#   kubectl create secret generic portico --from-literal=admin-token="$(openssl rand -base64 24)"
# This file is generated: npm run chart
`;

// Helm and Kubernetes read YAML 1.1, in which 0440 is an octal number and `off` means false.
const parse = (text: string): unknown => parseYaml(text, { version: '1.1' });

/** Some or all of the chart's values. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** The compiled values.schema.json, kept because compiling it takes longer than rendering the chart. */
let isValid: ValidateFunction | undefined;

/**
 * Renders the templates of the chart, each under its file name. The given values take precedence over those in
 * values.yaml. Throws an error if the values do not match values.schema.json.
 */
export function renderChart(values: ChartValues = {}, release = 'portico'): ReadonlyMap<string, string> {
  const all = merged(parse(readChart('values.yaml')) as ChartValues, values);
  isValid ??= new Ajv({ strict: false, allErrors: true }).compile(
    JSON.parse(readChart('values.schema.json')) as object,
  );
  if (!isValid(all)) {
    const faults = (isValid.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
    throw new Error(`values.schema.json refuses the values: ${faults.join('; ')}`);
  }
  const chart = parse(readChart('Chart.yaml')) as { name: string; version: string; appVersion: string };
  const scope = {
    Values: all,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release, Namespace: 'default', Service: 'Helm', IsInstall: true, IsUpgrade: false, Revision: 1 },
    // In Helm, this is a map from paths to bytes. The chart converts them to text.
    Files: Object.fromEntries(
      RULES.filter((name) => existsSync(join(rulesFolder, name))).map((name) => [
        `rules/${name}`,
        readChart('rules', name),
      ]),
    ),
    Template: { BasePath: `${chart.name}/templates` },
  };
  const names = readdirSync(join(chartFolder, 'templates')).toSorted();
  const sources = new Map(names.map((name) => [name, readChart('templates', name)]));
  const engine: Engine<string> = createEngine<string>({
    fromString: (text) => text,
    funcs: {
      ...sprigConversions(),
      ...sprigDefaults(),
      ...sprigDicts(),
      ...sprigFlow(),
      ...sprigHash(),
      ...sprigLists(),
      ...sprigMath(),
      ...sprigStrings(),
      ...helmFunctions((name, data) => {
        const source = sources.get(name.replace(`${scope.Template.BasePath}/`, ''));
        return evaluate(source ?? `{{ template ${JSON.stringify(name)} . }}`, data);
      }),
    },
  });
  const helpers = engine.parse(sources.get('_helpers.tpl') ?? '').defines();
  const evaluate = (source: string, data: unknown): string => engine.parse(source, helpers).evaluate(data).join('');
  return new Map(
    names
      .filter((name) => !name.startsWith('_'))
      .map((name) => [name, evaluate(sources.get(name) ?? '', scope)] as const),
  );
}

/** Returns what `helm template` prints: all objects, without the notes. */
export function renderedManifests(values: ChartValues = {}, release = 'portico'): string {
  return [...renderChart(values, release)]
    .filter(([name, text]) => name.endsWith('.yaml') && text.trim() !== '')
    .map(([, text]) => `---\n${text.trim()}\n`)
    .join('');
}

function helmFunctions(include: (name: string, data: unknown) => string): FuncMap {
  return {
    include: { fn: include, argTypes: ['string', 'value'] },
    required: {
      fn: (message: string, value: unknown) => {
        if (value === undefined || value === null || value === '') throw new Error(message);
        return value;
      },
      argTypes: ['string', 'value'],
    },
    // Helm sorts the keys, does not indent lists, and writes no line break at the end.
    toYaml: {
      fn: (value: unknown) => stringify(value, { sortMapEntries: true, lineWidth: 0, indentSeq: false }).trimEnd(),
      argTypes: ['value'],
    },
    fromYaml: { fn: (text: string) => parse(text), argTypes: ['string'] },
  };
}

/** Merges values as Helm does: objects are merged by key, and everything else is replaced as a whole. */
function merged(base: ChartValues, given: ChartValues): ChartValues {
  const entries = Object.entries(given).map(([key, value]) => {
    const own = base[key];
    return [key, isObject(own) && isObject(value) ? merged(own, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(entries) };
}

const isObject = (value: unknown): value is ChartValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readChart(...path: string[]): string {
  return readFileSync(join(chartFolder, ...path), 'utf8');
}

/** The generated files: their paths, and functions that return their contents. The rules come before the objects. */
const GENERATED: readonly (readonly [path: string, textOf: () => string])[] = [
  ...RULES.map(
    (name) => [join(rulesFolder, name), () => readFileSync(join(root, 'config', 'prometheus', name), 'utf8')] as const,
  ),
  [target, () => HEADER + renderedManifests()],
];

const found = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

if (import.meta.main) {
  const { values } = readCommandLine(HELP, { check: { type: 'boolean', default: false } });
  for (const [path, textOf] of GENERATED) {
    const text = textOf();
    if (found(path) === text) continue;
    if (!values.check) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    } else {
      console.error(`${relative(root, path)} is out of date; run: npm run chart`);
      process.exitCode = 1;
    }
  }
}
