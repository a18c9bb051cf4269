import { describe, expect, it } from 'vitest';
import { bannerLines, type BannerFacts } from '../../../src/cli/terminal/banner.ts';
import { load } from '../../config/load-in-folder.ts';

const banner = (yaml: string, more: Partial<BannerFacts> = {}) =>
  bannerLines({
    settings: load(yaml),
    version: '0.1.0',
    publicUrl: 'http://127.0.0.1:8080',
    adminUrl: 'http://127.0.0.1:8081',
    embeddedUrl: undefined,
    accounts: [],
    moved: [],
    ...more,
  }).join('\n');

const REAL = 'upstream: { url: "https://legacy.example.org/qa" }';

describe('the banner', () => {
  it('tells the levels that the ladder moved', () => {
    expect(banner(REAL, { moved: ['listIdeas responses report instead of enforce'] })).toContain(
      '  ladder    listIdeas responses report instead of enforce  (portico ladder)',
    );
  });

  it('of the embedded upstream reads so', () => {
    const facts = { embeddedUrl: 'http://127.0.0.1:9999', accounts: ['admin', 'alice'] };
    expect(banner('reference: { db: ":memory:" }', facts)).toMatchInlineSnapshot(`
      "Portico 0.1.0
        public    http://127.0.0.1:8080/services/v2
        admin     http://127.0.0.1:8081  (/console/ /livez /readyz /metrics)
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

  it('in front of a real upstream says that nothing is enforced yet, how to watch and how to climb', () => {
    expect(banner(REAL)).toMatchInlineSnapshot(`
      "Portico 0.1.0
        public    http://127.0.0.1:8080/services/v2
        admin     http://127.0.0.1:8081  (/console/ /livez /readyz /metrics)
        upstream  https://legacy.example.org/qa
        mode      observe: enforces nothing; reports authentication, requests, responses, permissions, pageBounds, undocumented

      NOTHING IS ENFORCED YET: every request passes, and what would be refused is counted only.
        Watch   curl -s http://127.0.0.1:8081/metrics | grep 'outcome="reported"'
        Climb   PORTICO_MODE=staging once nothing legitimate is reported any more, then PORTICO_MODE=strict

      Try
        curl -u NAME:PASSWORD 'http://127.0.0.1:8080/services/v2/question.json?pageSize=3'
        curl -u NAME:PASSWORD 'http://127.0.0.1:8080/services/v2/question.json?page=x'
        curl -u NAME:PASSWORD -i 'http://127.0.0.1:8080/services/v2/group/1/user.json'
        curl -s http://127.0.0.1:8081/metrics | grep ^portico_checks_total"
    `);
  });

  it('says in a line of its own that overlays are applied and that a candidate runs beside', () => {
    const lines = banner('contract: { overlays: [a.yaml], candidate: { overlays: [a.yaml, b.yaml] } }').split('\n');
    expect(lines).toContain('  contract  1 overlay, candidate beside it with 2 overlays');
    expect(banner('{}')).not.toContain('  contract  ');
  });

  it('names no account and no password in front of a real upstream', () => {
    expect(banner(REAL)).not.toMatch(/alice|password = name/);
  });

  it('warns when demo accounts can be used from other machines', () => {
    const facts = { embeddedUrl: 'http://127.0.0.1:9999', accounts: ['admin'] };
    expect(banner('listen: { host: 0.0.0.0 }', facts)).toContain('WARNING: demo accounts');
    expect(banner('listen: { host: 127.0.0.2 }', facts)).not.toContain('WARNING');
    expect(banner('listen: { host: 0.0.0.0 }')).not.toContain('WARNING');
  });

  it('says nothing of climbing once a single check is enforced', () => {
    expect(banner(`${REAL}\nchecks: { requests: enforce }`)).not.toContain('NOTHING IS ENFORCED');
  });

  it('says that nothing is enforced when staging has every check lowered', () => {
    const lowered = ['authentication', 'requests', 'permissions', 'pageBounds']
      .map((check) => `${check}: off`)
      .join(', ');
    expect(banner(`mode: staging\nchecks: { ${lowered} }`)).toContain('NOTHING IS ENFORCED');
  });

  it('shows addresses under the public base path', () => {
    expect(banner('publicBasePath: /qa')).toContain('http://127.0.0.1:8080/qa/services/v2/question.json');
  });
});
