import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { loadSettings } from '../src/portico-settings.ts';
import { withUpstreamUrl } from '../src/engine/config/settings.ts';
import { createGateway, type Gateway } from '../src/engine/gateway.ts';
import { createSeededRandom } from '../src/lib/seeded-random.ts';
import { startReferenceServer } from '../src/reference/start-reference-server.ts';
import { CONSOLE_PAGES, EVERY_PAGE } from '../test/builders/console-pages.ts';
import { TOKENS_ON } from '../test/builders/tokens-on.ts';
import { findProgram } from '../test/builders/find-program.ts';
import { readCommandLine } from './command-line.ts';

const HELP = `Takes the screenshots of the console in docs/images/*.png. Simulates the clock and fifteen minutes of traffic to a
reference server that injects faults.

Usage: npm run screenshots [-- FLAGS]

  --all FOLDER         Take screenshots of every page instead, in light mode, in dark mode and at phone size, and write
                       them to this folder.
  --help               Show this help.`;

const { all: folderForAll } = readCommandLine(HELP, { all: { type: 'string' } }).values;

const root = join(import.meta.dirname, '..');
const TOKEN = 'screenshot-token';
const MINUTES = 15;
const STEP_MS = 5000;
const PAGES = [...CONSOLE_PAGES, 'violation'];
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const EXPLAINED = '?method=GET&target=%2Fservices%2Fv2%2Fgroup%2F1%2Fuser.json&as=alice';

const TARGETS = [
  ['/services/v2/question.json?pageSize=20', 'alice', 8],
  ['/services/v2/question.json?pageSize=20&page=2', 'bob', 4],
  ['/services/v2/idea.json', 'moderator', 3],
  ['/services/v2/article.json', 'alice', 2],
  ['/services/v2/node/3167/comment.json', 'moderator', 2],
  ['/services/v2/action.json', 'admin', 1],
  ['/services/v2/user/2/expertise.json', 'moderator', 1],
  ['/services/v2/question.json?page=x', 'bob', 0.4],
  ['/services/v2/group/1/user.json', 'alice', 0.3],
  ['/services/v2/question.json?colour=red', 'bob', 0.3],
  ['/services/v2/tags/popular.json', 'alice', 0.1],
] as const;

async function play(gateway: Gateway, move: (at: number) => void, until: number): Promise<void> {
  const random = createSeededRandom(7);
  const all = TARGETS.reduce((sum, [, , weight]) => sum + weight, 0);
  for (let at = until - MINUTES * 60_000; at <= until; at += STEP_MS) {
    move(at);
    const busy = 10 + 6 * Math.sin(((until - at) / (MINUTES * 60_000)) * 9) + random.fraction() * 4;
    await Promise.all(
      Array.from({ length: Math.round(busy) }, async () => {
        let left = random.fraction() * all;
        const [target, user] = TARGETS.find(([, , weight]) => (left -= weight) < 0) ?? TARGETS[0];
        const headers = { Authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` };
        const response = await fetch(gateway.publicUrl + target, { headers }).catch(() => undefined);
        await response?.arrayBuffer().catch(() => undefined);
      }),
    );
    // Whatever reads the traffic also records it.
    await fetch(`${gateway.adminUrl}/console/api/traffic`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  }
}

async function tryIdeas(tab: Page): Promise<void> {
  await tab.getByLabel('Name', { exact: true }).fill('moderator');
  await tab.getByLabel('Password').fill('moderator');
  const ideas = tab.locator('#listIdeas');
  await ideas.getByLabel('pageSize', { exact: true }).fill('2');
  await ideas.getByRole('button', { name: 'Send GET' }).click();
  await ideas.locator('.reply').waitFor();
  await tab.evaluate("document.querySelector('#listIdeas .try').scrollIntoView({ block: 'end' })");
}

/** Accepts the violation caused by missing titles. */
async function acceptOne({ services, baseline }: Gateway): Promise<void> {
  const { entries } = await services.records.snapshot();
  const known = entries.find(({ at }) => at === '/list/*/title');
  if (known === undefined) throw new Error('no missing title was recorded');
  const { fingerprint, message: summary } = known;
  await baseline?.accept({ fingerprint, reason: 'ticket 4711', owner: 'team-search', expires: undefined, summary });
}

async function shoot(
  browser: Browser,
  url: string,
  page: string,
  file: string,
  look: 'light' | 'dark',
  viewport: typeof DESK,
) {
  const context = await browser.newContext({
    viewport,
    colorScheme: look,
    reducedMotion: 'reduce',
    httpCredentials: { username: 'operator', password: TOKEN },
  });
  const tab = await context.newPage();
  const hash = page === 'violation' ? 'violations' : page === 'permissions' ? page + EXPLAINED : page;
  await tab.goto(page === 'reference' ? `${url}/console/reference#listIdeas` : `${url}/console/#/${hash}`);
  if (page === 'violation') await tab.locator('tbody th a').first().click();
  await tab.locator('tbody tr').filter({ visible: true }).first().waitFor();
  if (page === 'permissions') await tab.getByText('verdict').waitFor();
  if (page === 'reference') await tryIdeas(tab);
  // The charts are drawn one frame after their data arrives.
  await tab.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await tab.screenshot({ path: file });
  console.log(`${file}  ${Math.ceil(statSync(file).size / 1024)} KiB`);
  await context.close();
}

const found = findProgram('chromium');
if (found.path === undefined) throw new Error(found.advice);
const folder = mkdtempSync(join(tmpdir(), 'portico-screenshots-'));
const end = Date.now();
let base = end - MINUTES * 60_000;
let setAt = performance.now();
// The clock runs during the simulation's steps, so that the latencies are real, and stops between them.
const clock = () => base + Math.min(STEP_MS - 1, Math.round(performance.now() - setAt));
const chaos = ['extra-field:legacyScore@6%60', 'wrong-type:creationDate@8%30', '500@15%6', 'missing-field:title@13%50'];
const reference = await startReferenceServer({ complete: true, chaos });
const roles = join(root, 'config', 'roles.yaml');
writeFileSync(join(folder, 'feed-password'), 'admin\n', { mode: 0o600 });
writeFileSync(join(folder, 'baseline.yaml'), 'accepted: []\n');
const config = {
  ...EVERY_PAGE,
  listen: { port: 0, adminPort: 0, drainSeconds: 1 },
  roles: { file: roles },
  contract: { baseline: 'baseline.yaml' },
  tokens: TOKENS_ON,
  checks: { undocumented: 'report' },
  ledger: { file: ':memory:' },
  levels: { file: ':memory:' },
  changes: { username: 'admin', passwordFile: 'feed-password', folder: ':memory:' },
  operations: { listArticles: { checks: { responses: 'enforce' } } },
};
writeFileSync(join(folder, 'portico.yaml'), JSON.stringify(config), { mode: 0o600 });
const env = { PORTICO_CONFIG: join(folder, 'portico.yaml'), PORTICO_ADMIN_TOKEN: TOKEN, PORTICO_RELEASE: '2026.11' };
const gateway = await createGateway(withUpstreamUrl(loadSettings({ env, cwd: folder }), reference.url), {
  env,
  clock,
  logStream: { write: () => undefined },
});
const browser = await chromium.launch({
  executablePath: found.path,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--hide-scrollbars'],
});
try {
  await play(
    gateway,
    (at) => {
      base = at;
      setAt = performance.now();
    },
    end,
  );
  await acceptOne(gateway);
  if (folderForAll !== undefined) {
    mkdirSync(folderForAll, { recursive: true });
    for (const page of PAGES) {
      await shoot(browser, gateway.adminUrl, page, join(folderForAll, `${page}-light.png`), 'light', DESK);
      await shoot(browser, gateway.adminUrl, page, join(folderForAll, `${page}-dark.png`), 'dark', DESK);
      await shoot(browser, gateway.adminUrl, page, join(folderForAll, `${page}-phone.png`), 'light', PHONE);
    }
  } else {
    const images = join(root, 'docs', 'images');
    mkdirSync(images, { recursive: true });
    await shoot(browser, gateway.adminUrl, 'traffic', join(images, 'console.png'), 'light', DESK);
    await shoot(browser, gateway.adminUrl, 'reference', join(images, 'reference.png'), 'light', DESK);
  }
} finally {
  await browser.close();
  await gateway.close();
  await reference.close();
  rmSync(folder, { recursive: true, force: true });
}
