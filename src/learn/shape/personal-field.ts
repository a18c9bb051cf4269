import { type PersonalMark, personalName } from '../../privacy/personal-text.ts';
import type { Shape } from './shape.ts';

/** The mark that a field's name or the form of its texts suggests; only texts are marked. */
export function personalMark(name: string, { texts }: Shape): PersonalMark | undefined {
  if (texts === undefined) return undefined;
  const { forms } = texts;
  if ((forms['e-mail'] ?? 0) > 0) return 'email';
  if ((forms.ip ?? 0) > 0 && (forms.ip ?? 0) >= texts.seen / 2) return 'ip';
  if ((forms.phone ?? 0) > 0 && (forms.phone ?? 0) >= texts.seen / 2) return 'phone';
  return personalName(name) ?? ((forms.secret ?? 0) > 0 ? 'secret' : undefined);
}
