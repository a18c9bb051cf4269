const FAVORITES = '(SELECT COUNT(*) FROM favorites f WHERE f.node_id = n.id)';
const FOLLOWERS = "(SELECT COUNT(*) FROM follows f WHERE f.kind = 'node' AND f.target_id = n.id AND f.active = 1)";
const ANSWERS = "(SELECT COUNT(*) FROM nodes a WHERE a.parent_id = n.id AND a.type = 'answer')";
const COMMENTS = "(SELECT COUNT(*) FROM nodes c WHERE c.parent_id = n.id AND c.type IN ('comment', 'ideacomment'))";
const USED = `(SELECT COALESCE(MAX(t.used_count), 0) FROM node_topics nt JOIN topics t ON t.id = nt.topic_id
  WHERE nt.node_id = n.id)`;

/** The order on nodes `n` of each sort name, in the order in which `sorts` lists them. */
export const NODE_SORTS: ReadonlyMap<string, string> = new Map([
  ['active', 'n.last_active_at DESC'],
  ['newest', 'n.created_at DESC'],
  ['hottest', `(n.score * 20 + n.views + ${ANSWERS} * 30) DESC`],
  ['votes', 'n.score DESC'],
  ['viewCount', 'n.views DESC'],
  ['usedCount', `${USED} DESC`],
  ['answerCount', `${ANSWERS} DESC`],
  ['answerCountAsc', `${ANSWERS} ASC`],
  ['commentCount', `${COMMENTS} DESC`],
  ['favoriteCount', `${FAVORITES} DESC`],
  ['followers', `${FOLLOWERS} DESC`],
  ['reportCount', 'n.reports DESC'],
]);

/** The names that a node list offers as `sorts`. */
export const NODE_SORT_NAMES: readonly string[] = [...NODE_SORTS.keys()];
