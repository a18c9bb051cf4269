/** The path segments that are typical of Q&A servers. Any other word could be a person's name. */
export const PATH_WORDS: ReadonlySet<string> = new Set(
  `accept action actions admin anonymize answer answers api article articles attachment attachments auth avatar
  badge cancelwiki close comment comments container content count delete execution expertise favorite follow
  followers gdpr getByUsername group groups health idea ideacomment ideas image issue issuetracker jobs kbentry
  key latest list login markfavorite metrics node nodes open posts question questions reputation revision
  schedule search services space spaces status tag ticket token topic topics unfollow unmarkfavorite unmarkwiki
  upload user users v2 vote wiki`.split(/\s+/),
);
