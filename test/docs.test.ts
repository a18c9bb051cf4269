import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONTRACT_STATUSES } from '../src/engine/http/write-reply.ts';
import { SKIP_REASONS } from '../src/engine/model/trace.ts';
import { contract } from './engine/contract/sample.ts';
import { readText, ROOT } from './readme/tables.ts';

/** Returns the files with these extensions in a folder of the repository, as paths relative to the repository root. */
function filesOf(folder: string, ...endings: readonly string[]): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`);
}

/** Returns the sections of the rules that a file refers to, as in "docs/rules.md §6 and §11" and "rules 8: …". */
function sectionsNamedIn(text: string): number[] {
  const mentions = text.matchAll(/\brules(?:\.md §|[ ](?=\d+:))(?<numbers>\d+(?: and §\d+)*)/g);
  return [...mentions].flatMap((mention) => (mention.groups?.['numbers']?.match(/\d+/g) ?? []).map(Number));
}

/** Returns the anchors that GitHub gives to the headings on a page. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map((heading) =>
    (heading[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns a page's broken relative links. A link may point to a file or a heading. */
function brokenLinks(page: string): string[] {
  const text = readText(page);
  const prose = text.replaceAll(/```.*?```/gs, '');
  const targets = [...prose.matchAll(/\]\((?![a-z]+:)([^)]+)\)/g)].map((link) => link[1] ?? '');
  return targets.filter((target) => {
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(ROOT, path))) return true;
    return anchor !== undefined && !anchorsOf(file === '' ? text : readText(path)).includes(anchor);
  });
}

const code = [...filesOf('src', '.ts'), ...filesOf('test', '.ts', '.case.txt')];

describe('the page of the rules', () => {
  const headings = [...readText('docs/rules.md').matchAll(/^## (\d+)\. \S/gm)].map((heading) => Number(heading[1]));

  it('has twelve sections, numbered in order', () => {
    expect(headings).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  it('names the operations whose responses are stored by default', () => {
    const [, list = ''] = /responses of operations ([\d, and\s]+) are stored/.exec(readText('docs/rules.md')) ?? [];
    const stored = contract.operations.filter(({ cacheability }) => cacheability?.byDefault === true);
    expect(list.match(/\d+/g)?.map(Number)).toEqual(stored.map(({ row }) => row));
  });

  it('has every section that comments and tests refer to', () => {
    const named = code.flatMap((path) => sectionsNamedIn(readText(path)).map((section) => ({ path, section })));
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ section }) => !headings.includes(section))).toEqual([]);
  });
});

describe('the section about Contract-Status', () => {
  const [, section = ''] = /^## Contract-Status$(.*?)^## /ms.exec(readText('docs/ledger.md')) ?? [];
  const [, values = '', reasons = ''] = section.split(/^\| (?:value|skipped) \|.*$/m);
  const firstCells = (table: string) =>
    [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map((word) => word[1]),
    );

  it('explains every value and every reason in the code, and no others', () => {
    expect(new Set(firstCells(values))).toEqual(new Set(CONTRACT_STATUSES));
    expect(new Set(firstCells(reasons))).toEqual(new Set(SKIP_REASONS));
  });
});

describe('the page of the field facts', () => {
  const mentions = code.flatMap((path) =>
    [...readText(path).matchAll(/docs\/field-facts\.md, grade (\w)/g)].map((mention) => ({ path, grade: mention[1] })),
  );
  const page = readText('docs/field-facts.md');

  it('explains every grade that comments use', () => {
    const explained = new Set([...page.matchAll(/^\| ([A-Z]) +\|/gm)].map((row) => row[1]));
    expect(mentions.length).toBeGreaterThan(0);
    expect(mentions.filter(({ grade }) => !explained.has(grade ?? ''))).toEqual([]);
  });
});

describe('the names of documents', () => {
  const named = [
    ...filesOf('src', '.ts'),
    ...filesOf('docs', '.schema.json'),
    ...filesOf('config', '.schema.json'),
  ].flatMap((path) =>
    [...readText(path).matchAll(/portico:\/((?:docs|config)\/[\w./-]+)/g)].map((name) => name[1] ?? ''),
  );

  it('lead to files of the package', () => {
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('are never addresses that lead nowhere', () => {
    const texts = [
      ...filesOf('src', '.ts'),
      ...filesOf('docs', '.json', '.md'),
      ...filesOf('schemas', '.json', '.yaml'),
    ];
    expect(texts.filter((path) => /portico\.invalid/.test(readText(path)))).toEqual([]);
  });
});

describe('the words of tests, benchmarks and tools', () => {
  /** Code that calls an HTTP response an answer. Only questions have answers. */
  const RESPONSE_AS_ANSWER =
    /\b(?:const|let) (?:answers?|\{ answers?\b.*\}) =|(?<!\/)\banswer\??\.(?:status|headers|json|text|body|bytes)\b|\b(?:[a-z]+Answer|FakeAnswer)\(/;
  const OF_QUESTIONS = /^test\/(?:reference\/|builders\/reference-ids\.ts$)/;

  it('call a response a response or a reply, as the glossary does', () => {
    expect('const answer = await gateway.call(LIST);').toMatch(RESPONSE_AS_ANSWER);
    expect('expect(answer.status).toBe(200);').toMatch(RESPONSE_AS_ANSWER);
    const files = ['test', 'bench', 'tools'].flatMap((folder) => filesOf(folder, '.ts'));
    const found = files
      .filter((path) => path !== 'test/docs.test.ts' && !path.includes('node_modules/') && !OF_QUESTIONS.test(path))
      .filter((path) => RESPONSE_AS_ANSWER.test(readText(path)));
    expect(found).toEqual([]);
  });
});

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...filesOf('docs', '.md')];

describe('the map of the documents', () => {
  it('lists every page of docs/ once', () => {
    const linked = [...readText('docs/README.md').matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map((link) => link[1] ?? '');
    const pages = filesOf('docs', '.md').map((path) => path.slice('docs/'.length));
    const wanted = pages.filter(
      (path) => path !== 'README.md' && (!path.startsWith('adr/') || path === 'adr/README.md'),
    );
    expect(linked.filter((path) => !path.startsWith('../')).toSorted()).toEqual(wanted.toSorted());
  });

  it('includes a list of every decision', () => {
    const list = readText('docs/adr/README.md');
    const decisions = filesOf('docs/adr', '.md').map((path) => path.slice('docs/adr/'.length));
    expect(decisions.filter((name) => name !== 'README.md' && !list.includes(`](${name})`))).toEqual([]);
  });
});

describe('the lines of the documents', () => {
  it.each(PAGES)('have at most 120 columns outside tables and blocks: %s', (page) => {
    const lines = readText(page)
      .replaceAll(/^```.*?^```/gms, '')
      .split('\n');
    expect(lines.filter((line) => line.length > 120 && !line.startsWith('|'))).toEqual([]);
  });
});

describe('the links of the documents', () => {
  it.each(PAGES)('lead to existing files and headings: %s', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it.each(['docs/README.md', 'docs/architecture.md'])('lead to the rules and the field facts from %s', (page) => {
    expect(readText(page)).toMatch(/rules\.md\)/);
    expect(readText(page)).toMatch(/field-facts\.md\)/);
  });
});
