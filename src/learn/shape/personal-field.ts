import type { Shape } from './shape.ts';

/** The marks of personal data that the contract knows (`x-pii`). */
export type PersonalMark =
  | 'email'
  | 'email-hash'
  | 'ip'
  | 'real-name'
  | 'username'
  | 'picture'
  | 'account-id'
  | 'time-zone'
  | 'phone'
  | 'secret'
  | 'identifiers';

const BY_NAME: readonly (readonly [PersonalMark, RegExp])[] = [
  ['email-hash', /^(?:e?mail|gravatar)_?-?(?:hash|md5|sha\d*)$/],
  ['email', /e-?_?mail/],
  ['secret', /password|passwd|secret|token|api_?-?key|credential|session_?-?id|cookie/],
  ['ip', /^(?:.*[_-])?(?:ip|ip_?-?addr(?:ess)?|remote_?-?addr(?:ess)?)$/],
  ['real-name', /^(?:real|full|first|last|given|family|middle|sur|maiden)_?-?name$|^displayname$|^display_name$/],
  [
    'username',
    /^(?:user|login|screen|nick|account|owner|author|editor|creator|uploader)_?-?(?:name|id_name)?$|^nick$|^handle$/,
  ],
  ['picture', /^(?:avatar|photo|picture|gravatar)(?:_?-?(?:url|urls|link))?$/],
  ['account-id', /^account_?-?id$/],
  ['time-zone', /^time_?-?zone$/],
  ['phone', /phone|mobile|^fax$/],
];

/** The mark that the name of a field suggests. */
export function personalName(name: string): PersonalMark | undefined {
  const lower = name.toLowerCase();
  return BY_NAME.find(([, pattern]) => pattern.test(lower))?.[0];
}

/** The mark that a field's name or the form of its texts suggests; only texts are marked. */
export function personalMark(name: string, { texts }: Shape): PersonalMark | undefined {
  if (texts === undefined) return undefined;
  const { forms } = texts;
  if ((forms['e-mail'] ?? 0) > 0) return 'email';
  if ((forms.ip ?? 0) > 0 && (forms.ip ?? 0) >= texts.seen / 2) return 'ip';
  if ((forms.phone ?? 0) > 0 && (forms.phone ?? 0) >= texts.seen / 2) return 'phone';
  return personalName(name) ?? ((forms.secret ?? 0) > 0 ? 'secret' : undefined);
}
