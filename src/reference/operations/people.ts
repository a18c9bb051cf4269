import { requireCredential, requirePermissions } from '../http/caller.ts';
import { notFound, refuse, jsonResponse } from '../http/legacy-response.ts';
import { findNode } from '../render/visible-nodes.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { listFollowers } from '../lists/list-followers.ts';
import { listTopics, listUsers } from '../lists/list-people.ts';

/** Operation 9: the users in a group. */
export const listGroupUsers: LegacyRoute = {
  operation: 9,
  method: 'GET',
  path: '/services/v2/group/:groupId/user.json',
  respond: (request, { sql }) => {
    requireCredential(request.caller);
    requirePermissions(request.caller, 'Edit users and groups');
    const id = readPathId(request.param('groupId'), 'group id');
    if (sql.get('SELECT 1 FROM groups WHERE id = ?', id) === undefined) refuse(notFound());
    const members = 'u.id IN (SELECT user_id FROM group_members WHERE group_id = ?)';
    return jsonResponse(listUsers(sql, request, { text: members, values: [id] }));
  },
};

/** Operation 10: the followers of a topic. */
export const listTopicFollowers: LegacyRoute = {
  operation: 10,
  method: 'GET',
  path: '/services/v2/topic/:topicId/followers.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View users list');
    const id = readPathId(request.param('topicId'), 'topic id');
    if (sql.get('SELECT 1 FROM topics WHERE id = ?', id) === undefined) refuse(notFound());
    return jsonResponse(listFollowers(sql, request, { kind: 'topic', id, type: 'topic' }));
  },
};

/** Operation 14: the followers of a node. */
export const listNodeFollowers: LegacyRoute = {
  operation: 14,
  method: 'GET',
  path: '/services/v2/node/:nodeId/followers.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View users list');
    const node = findNode(sql, readPathId(request.param('nodeId'), 'node id'), request.caller);
    return jsonResponse(listFollowers(sql, request, { kind: 'node', id: node.id, type: node.type }));
  },
};

const ANSWERED = `t.id IN (SELECT nt.topic_id FROM nodes a JOIN node_topics nt ON nt.node_id = a.parent_id
  WHERE a.author_id = ? AND a.type = 'answer')`;

/** Operation 15: the topics of the questions that a user has answered. */
export const listExpertise: LegacyRoute = {
  operation: 15,
  method: 'GET',
  path: '/services/v2/user/:userId/expertise.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, "View user's profile");
    const id = readPathId(request.param('userId'), 'user id');
    if (sql.get('SELECT 1 FROM users WHERE id = ?', id) === undefined) refuse(notFound());
    return jsonResponse(listTopics(sql, request, { text: ANSWERED, values: [id] }));
  },
};
