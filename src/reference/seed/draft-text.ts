import type { SeededRandom } from '../../lib/seeded-random.ts';
import { PROBLEMS, SENTENCES, SUBJECTS } from './seed-words.ts';

// The ids of admin, moderator, alice and bob; guest writes nothing.
const DEMO_AUTHORS = [1, 2, 3, 3, 4];
const FIRST_OTHER = 5;

/** An author: a member, now and then one of the demo accounts. */
export function draftAuthor(random: SeededRandom, users: readonly number[]): number {
  return random.chance(0.15) ? random.pick(DEMO_AUTHORS) : random.pick(users.slice(FIRST_OTHER));
}

/** A title in the manner of the node's type. */
export function draftTitle(random: SeededRandom, type: 'question' | 'idea' | 'kbentry'): string {
  const [subject, problem] = [random.pick(SUBJECTS), random.pick(PROBLEMS)];
  if (type === 'question') return `What to do when ${subject} ${problem}?`;
  if (type === 'idea') return `Warn early when ${subject} ${problem}`;
  return `How to: ${subject} ${problem}`;
}

/** A body: HTML in most cases, plain text in the others. */
export function draftBody(random: SeededRandom): string {
  const sentences = random.sample(SENTENCES, random.integer(1, 4));
  if (random.chance(0.2)) return sentences.join(' ').replaceAll(/<\/?strong>/g, '');
  return sentences.map((sentence) => `<p>${sentence.replaceAll(' & ', ' &amp; ')}</p>`).join('');
}
