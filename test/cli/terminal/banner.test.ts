import { describe, expect, it } from 'vitest';
import { REFERENCE } from '../../../src/cli/reference-stand-in.ts';
import { bannerLines, type BannerContent } from '../../../src/cli/terminal/banner.ts';
import { load } from '../../engine/config/load-in-folder.ts';

const banner = (yaml: string, more: Partial<BannerContent> = {}) =>
  bannerLines({
    settings: load(yaml),
    version: '0.1.0',
    publicUrl: 'http://127.0.0.1:8080',
    adminUrl: 'http://127.0.0.1:8081',
    standIn: undefined,
    accounts: [],
    changes: [],
    ...more,
  }).join('\n');

const REAL = 'upstream: { url: "https://legacy.example.org/qa" }';

describe('the banner', () => {
  it('shows the levels that the ladder moved', () => {
    expect(
      banner(REAL, {
        changes: [
          ['listIdeas', { decidedBy: 'ladder', words: 'responses report instead of enforce', toSee: 'portico ladder' }],
        ],
      }),
    ).toContain('  ladder    listIdeas responses report instead of enforce  (portico ladder)');
  });

  it('shows active overrides', () => {
    expect(
      banner(REAL, {
        changes: [
          [
            'listIdeas',
            {
              decidedBy: 'override',
              words: 'disabled until 2026-05-04T12:30:00Z (INC-17)',
              toSee: 'portico override list',
            },
          ],
        ],
      }),
    ).toContain('  override  listIdeas disabled until 2026-05-04T12:30:00Z (INC-17)  (portico override list)');
  });

  it('shows the embedded upstream and its accounts', () => {
    const standIn = `http://127.0.0.1:9999  (${REFERENCE.describe(load('reference: { db: ":memory:" }'))})`;
    expect(banner('{}', { standIn, accounts: ['admin', 'alice'] })).toMatchInlineSnapshot(`
      "Portico 0.1.0
        public    http://127.0.0.1:8080/services/v2
        admin     http://127.0.0.1:8081  (/console/ /livez /readyz /upstreamz /metrics)
        upstream  http://127.0.0.1:9999  (embedded reference server, :memory:)
        mode      strict: enforces authentication, requests, permissions, pageBounds, undocumented; reports responses
        accounts  admin, alice  (password = name)

      Try
        curl -u alice:alice 'http://127.0.0.1:8080/services/v2/question.json?pageSize=3'
        curl -u alice:alice 'http://127.0.0.1:8080/services/v2/question.json?page=x'
        curl -u alice:alice -i 'http://127.0.0.1:8080/services/v2/group/1/user.json'
        curl -s http://127.0.0.1:8081/metrics | grep ^portico_checks_total"
    `);
  });

  it('states for a real upstream that nothing is enforced yet, how to watch it, and the next step', () => {
    expect(banner(REAL)).toMatchInlineSnapshot(`
      "Portico 0.1.0
        public    http://127.0.0.1:8080/services/v2
        admin     http://127.0.0.1:8081  (/console/ /livez /readyz /upstreamz /metrics)
        upstream  https://legacy.example.org/qa
        mode      observe: enforces nothing; reports authentication, requests, responses, permissions, pageBounds, undocumented

      NOTHING IS ENFORCED YET: all requests are forwarded; requests that would be refused are only counted.
        Watch   curl -s http://127.0.0.1:8081/metrics | grep 'outcome="reported"'
        Next    set PORTICO_MODE=staging once no legitimate requests are reported, then PORTICO_MODE=strict

      Try
        curl -u NAME:PASSWORD 'http://127.0.0.1:8080/services/v2/question.json?pageSize=3'
        curl -u NAME:PASSWORD 'http://127.0.0.1:8080/services/v2/question.json?page=x'
        curl -u NAME:PASSWORD -i 'http://127.0.0.1:8080/services/v2/group/1/user.json'
        curl -s http://127.0.0.1:8081/metrics | grep ^portico_checks_total"
    `);
  });

  it('shows overlays and the shadow contract in a separate line', () => {
    const lines = banner('contract: { overlays: [a.yaml], candidate: { overlays: [a.yaml, b.yaml] } }').split('\n');
    expect(lines).toContain('  contract  1 overlay, shadow contract with 2 overlays');
    expect(banner('{}')).not.toContain('  contract  ');
  });

  it('shows neither accounts nor passwords for a real upstream', () => {
    expect(banner(REAL)).not.toMatch(/alice|password = name/);
  });

  it('warns when demo accounts can be used from other machines', () => {
    const facts = { standIn: 'http://127.0.0.1:9999', accounts: ['admin'] };
    expect(banner('listen: { host: 0.0.0.0 }', facts)).toContain('WARNING: demo accounts');
    expect(banner('listen: { host: 127.0.0.2 }', facts)).not.toContain('WARNING');
    expect(banner('listen: { host: 0.0.0.0 }')).not.toContain('WARNING');
  });

  it('does not state that nothing is enforced once a single check is enforced', () => {
    expect(banner(`${REAL}\nchecks: { requests: enforce }`)).not.toMatch(/ENFORCED YET/);
  });

  // docs/rules.md §11: outside observe mode, writes to undocumented paths always need an entry in undocumented.allow.
  it.each([
    ['mode: staging', true],
    ['mode: strict\nchecks: { undocumented: report }', true],
    ['mode: staging\nchecks: { undocumented: off }', true],
    ['mode: staging\nchecks: { undocumented: enforce }', false],
    ['mode: strict', false],
    ['mode: observe', false],
  ])(
    'states for %j whether undocumented writes are refused although undocumented is not enforced: %s',
    (yaml, said) => {
      const line =
        banner(`${REAL}\n${yaml}`)
          .split('\n')
          .find((one) => one.startsWith('  mode ')) ?? '';
      expect(line.endsWith('; refuses undocumented writes')).toBe(said);
    },
  );

  it('states that no check is enforced if all checks of staging are lowered, but not that everything is forwarded', () => {
    const lowered = ['authentication', 'requests', 'permissions', 'pageBounds']
      .map((check) => `${check}: off`)
      .join(', ');
    expect(banner(`mode: staging\nchecks: { ${lowered} }`)).toMatch(
      /^NO CHECK IS ENFORCED YET: .* except undocumented writes\.$/m,
    );
    expect(banner(`mode: staging\nchecks: { ${lowered} }`)).not.toContain('all requests are forwarded');
  });

  it('shows URLs below the public base path', () => {
    expect(banner('publicBasePath: /qa')).toContain('http://127.0.0.1:8080/qa/services/v2/question.json');
  });
});
