/** First names of seeded users. */
export const FIRST_NAMES = 'Hana Ivo Jana Karel Lena Milan Nora Otto Petra Radim Sara Tomas Ute Vera Wanda'.split(' ');

/** Last names of seeded users. */
export const LAST_NAMES = 'Abel Brandt Cerny Dvorak Eriksen Fischer Grant Hall'.split(' ');

/** The names of the 8 groups. Their ids are 1 to 8, in this order. */
export const GROUP_NAMES = [
  'Super Users',
  'Moderators',
  'Employees',
  'Partners',
  'Champions',
  'Beta Testers',
  'Documentation',
  'Newcomers',
] as const;

/** The names of the 5 spaces. */
export const SPACE_NAMES = ['General', 'Installation', 'Administration', 'Development', 'Feedback'] as const;

/** The names of the 40 topics. */
export const TOPIC_NAMES = (
  'login passwords single-sign-on ldap backup restore upgrade migration search indexing email notifications ' +
  'attachments images editor themes templates translation plugins webhooks api rest json xml export import reports ' +
  'analytics groups permissions moderation badges reputation spaces mobile performance caching proxy https database'
).split(' ');

/** The subjects of seeded posts. */
export const SUBJECTS = (
  'the login page, a nightly backup, the search index, a custom theme, the mail queue, an upgraded server, a ' +
  'private space, the user import, the REST interface, a reverse proxy, the rich text editor, a scheduled ' +
  'report'
).split(', ');

/** The problems that seeded posts describe. */
export const PROBLEMS = (
  'stops after an hour, shows an empty page, is slower than before, loses its settings, rejects valid input, ' +
  'works only for administrators, fails behind two load balancers, repeats the same entry, ignores the time ' +
  'zone, needs a restart every week'
).split(', ');

/** Sentences that fill seeded bodies. */
export const SENTENCES = [
  'The log shows nothing unusual.',
  'We tried it on two machines with the same result.',
  'Clearing the cache helped for a day.',
  'It worked in the previous release.',
  'The documentation does not mention this case.',
  'Please check the permissions of the role first.',
  'A restart brings it back, but not for long.',
  'Our users noticed it last Monday.',
  'The same setting exists per space & per site.',
  'Has anybody seen this with <strong>more than 500</strong> users?',
];

/** The start of the seeded history, in epoch milliseconds. */
export const SEED_START = Date.UTC(2016, 2, 1, 8, 0, 0);

/**
 * The end of the seeded history, in epoch milliseconds. It is a fixed time, so that the same seed always produces the
 * same content.
 */
export const SEED_END = Date.UTC(2019, 1, 6, 15, 1, 0);
