import { describe, expect, it } from 'vitest';
import { compilePermissionMessage, plainText } from '../../../../src/engine/upstream/failures/permission-message.ts';
import { UPSTREAM_DEFAULTS } from '../../../../src/engine/upstream/upstream-options.ts';

describe('a permission message', () => {
  const isPermission = compilePermissionMessage(UPSTREAM_DEFAULTS.permissionMessages);

  it.each([
    "You don't have permission to do this action.<br>Please login as another user",
    'You don&#39;t have permission to do this action.',
    'You do not have the required permission',
    'You don’t have permissions.',
    'Please log in as a different user',
    'Permission denied',
    'Insufficient permissions',
    'You are not allowed to view this page',
  ])('is recognized by default: %s', (message) => {
    expect(isPermission(message, [])).toBe(true);
  });

  it.each(['Bad credentials', 'Unauthorized', 'Please login', 'The permission name is required', 'not found'])(
    'is not recognized in: %s',
    (message) => {
      expect(isPermission(message, [])).toBe(false);
    },
  );

  it('can be a documented text of status 403, and of no other', () => {
    expect(isPermission('Go &amp; away', [{ status: 403, text: 'Go & away' }])).toBe(true);
    expect(isPermission('Go away', [{ status: 400, text: 'Go away' }])).toBe(false);
  });

  it('can be configured', () => {
    expect(compilePermissionMessage(['^verboten$'])('VERBOTEN', [])).toBe(true);
    expect(() => compilePermissionMessage(['('])).toThrow(SyntaxError);
  });
});

describe('an upstream message', () => {
  it.each([
    ['a line break', 'No.<br>Log in', 'No. Log in'],
    ['line breaks of every kind', 'a<BR/>b<br />c <br class="x">d<br id=1>e', 'a b c d e'],
    ['tags', '<p>The <b class="x">thing</b> is gone</p>', 'The thing is gone'],
    ['entities, once', 'don&#39;t &amp;lt; &quot;x&quot; &eacute;', `don't &lt; "x" é`],
    ['encoded tags, which are text', '&lt;script&gt;', '‹script>'],
    ['tags encoded in other ways', '&#60;img src=x&#62; &#x3C;b> &LT;i> &lt/u>', '‹img src=x> ‹b> ‹i> ‹/u>'],
    ['tags encoded twice', '&amp;lt;script&amp;gt; &amp;amp;lt;b>', '&lt;script&gt; &amp;lt;b>'],
    ['a tag inside a tag', '<scr<b>ipt>alert(1)</scr</b>ipt>', '‹script>alert(1)‹/script>'],
    ['a tag inside an entity', '&l<b></b>t;script>', '‹script>'],
    ['a control character inside a tag', '&lt;\u0000script>', '< script>'],
    [
      'tags of unknown elements',
      '<video src=x onerror=alert(1)><x-y onclick=f()>',
      '‹video src=x onerror=alert(1)>‹x-y onclick=f()>',
    ],
    [
      'encoded comments and declarations',
      '&lt;!-- x --&gt; &lt;!DOCTYPE x&gt; &lt;?php',
      '‹!-- x --> ‹!DOCTYPE x> ‹?php',
    ],
    ['scripts and comments', 'a<script>alert(1)</script>b<!-- c -->d', 'abd'],
    ['comparisons, which are not tags', 'a < b and c > d, 1<2', 'a < b and c > d, 1<2'],
    ['control characters', 'a\u0000\r\nb\u001b[31m', 'a b [31m'],
    ['a tag that never ends', 'gone <a href="', 'gone ‹a href="'],
  ])('becomes plain text: %s', (_case, html, text) => {
    expect(plainText(html)).toBe(text);
  });

  it.each([
    'The provided file does not have a valid user.',
    "The provided 'job id' is/are invalid",
    'not found',
    "Attachments is disabled or you don't have permission to add attachments to this issue.",
  ])('stays unchanged if it is a documented text: %s', (text) => {
    expect(plainText(text)).toBe(text);
  });

  it('keeps text that looks like a tag but is not one', () => {
    expect(plainText('value must be a<b and c>d')).toBe('value must be a‹b and c>d');
    expect(plainText('<b>value</b> must be <em class="x">small</em>')).toBe('value must be small');
  });

  it('is cut at 2,000 characters', () => {
    expect(plainText('ab '.repeat(10_000))).toMatch(/^(?:ab ){666}a…$/);
  });

  // Many repetitions of an unclosed construct would keep an inefficient regular expression busy for minutes.
  it('is read in linear time', () => {
    for (const part of ['<script>', '<!--', '<a ', '<br', ' '])
      expect(plainText(part.repeat(1_000_000)).length).toBeLessThanOrEqual(2000);
  });
});
