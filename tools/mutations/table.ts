/** One change to the source that the tests must notice. */
export interface Mutation {
  /** The source file. When the text has moved to another file of `src`, that one is used and named. */
  readonly file: string;
  /** The text to replace; it stands once in the file. White space does not matter. */
  readonly find: string;
  readonly replace: string;
  /** The test file that must fail. */
  readonly test: string;
  /** What goes wrong with the mutation. */
  readonly why: string;
}

/** Guards that tests once failed to notice, by the folder of the source. */
export const MUTATIONS: readonly Mutation[] = [
  // pipeline
  {
    file: 'src/pipeline/stages/authorize.ts',
    find: "principal.kind !== 'verified'",
    replace: "principal.kind === 'anonymous'",
    test: 'test/pipeline/stages/authorize.test.ts',
    why: 'an unverified caller without the permission gets 403 and no challenge',
  },
  {
    file: 'src/pipeline/decide-permission.ts',
    find: "enforced && exchange.principal.kind !== 'verified'",
    replace: 'false',
    test: 'test/pipeline/decide-permission.test.ts',
    why: 'an unverified caller may edit a community wiki',
  },
  {
    file: 'src/pipeline/stages/cache-page.ts',
    find: 'work({ ...exchange, trace, clientGone: undefined })',
    replace: 'work({ ...exchange, trace })',
    test: 'test/pipeline/stages/cache-page.test.ts',
    why: 'background work ends with the connection of the client that caused it',
  },
  {
    file: 'src/pipeline/stages/cache-page.ts',
    find: 'found?.mayServeOnError !== true',
    replace: 'found === undefined',
    test: 'test/pipeline/stages/cache-page.test.ts',
    why: 'a page stands in beyond stale-if-error',
  },
  {
    file: 'src/pipeline/stages/cache-page.ts',
    find: "collapsed && !bypassed ? { status: 'coalesced' }",
    replace: "collapsed ? { status: 'coalesced' }",
    test: 'test/pipeline/stages/cache-page.test.ts',
    why: 'a bypass is counted as coalesced',
  },
  {
    file: 'src/pipeline/stages/translate-failure.ts',
    find: 'reply.status < 300 && reply.facts?.body.isJson',
    replace: 'reply.status < 400 && reply.facts?.body.isJson',
    test: 'test/pipeline/stages/translate-failure.test.ts',
    why: 'a redirect with a JSON body passes',
  },
  {
    file: 'src/pipeline/stages/validate-response.ts',
    find: 'violations.slice(before).every(isToldOnly)',
    replace: 'violations.every(isToldOnly)',
    test: 'test/pipeline/stages/validate-response.test.ts',
    why: 'a violation of the request silences a server error',
  },
  {
    file: 'src/permissions/ownership.ts',
    find: "remembered === undefined && principal.kind === 'verified'",
    replace: 'remembered === undefined',
    test: 'test/permissions/ownership.test.ts',
    why: 'an unverified caller makes us ask the upstream for the author of a node',
  },
  // contract
  {
    file: 'src/contract/compile/check-response.ts',
    find: 'success && breaking.length > 0 && isErrorInside(operation, json)',
    replace: 'success && isErrorInside(operation, json)',
    test: 'test/contract/compile/check-response.test.ts',
    why: 'a valid response is rejected for an error inside',
  },
  {
    file: 'src/contract/compile/check-response.ts',
    find: 'success && breaking.length > 0 && isErrorInside(operation, json)',
    replace: 'breaking.length > 0 && isErrorInside(operation, json)',
    test: 'test/contract/compile/check-response.test.ts',
    why: 'an error response is called an error inside a success',
  },
  // identity
  {
    file: 'src/identity/file-verifier.ts',
    find: 'verifyPassword(password, hash ?? decoy)',
    replace: 'verifyPassword(password, hash ?? [...hashes.values()][0] ?? decoy)',
    test: 'test/identity/file-verifier.test.ts',
    why: 'an unknown name is checked against the password of an account',
  },
  {
    file: 'src/identity/file-verifier.ts',
    find: '...STANDARD_COSTS, ...dearest, salt: randomBytes(16), tag: randomBytes(32)',
    replace: 'salt: randomBytes(16), tag: randomBytes(32), ...STANDARD_COSTS, ...dearest',
    test: 'test/identity/file-verifier.test.ts',
    why: 'the decoy for unknown names has the password of an account',
  },
  {
    file: 'src/identity/refusals.ts',
    find: 'Math.max(1, Math.ceil(verdict.retryAfterSeconds))',
    replace: 'Math.ceil(verdict.retryAfterSeconds)',
    test: 'test/identity/create-authenticator.test.ts',
    why: 'Retry-After is 0',
  },
  // upstream
  {
    file: 'src/upstream/retry-after.ts',
    find: 'isDate && !Number.isNaN(Date.parse(text))',
    replace: 'isDate',
    test: 'test/upstream/translate-failure.test.ts',
    why: 'a date that does not exist is passed on as Retry-After',
  },
  {
    file: 'src/upstream/content-coding.ts',
    find: 'codings.length <= MOST_CODINGS &&',
    replace: '',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a body coded ten times is decoded',
  },
  {
    file: 'src/upstream/content-coding.ts',
    find: 'decoder(decoded, { maxOutputLength: limit })',
    replace: 'decoder(decoded, { maxOutputLength: 1 << 30 })',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a bomb explodes in memory',
  },
  {
    file: 'src/upstream/create-upstream.ts',
    find: "signal?.removeEventListener('abort', abort);",
    replace: '',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a listener stays on the signal of the client after each exchange',
  },
  {
    file: 'src/upstream/connections.ts',
    find: "client.once('disconnect', () => fresh.delete(client));",
    replace: '',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'the client of each unsafe request is never let go',
  },
  {
    file: 'src/upstream/connections.ts',
    find: "client.once('connectionError', () => fresh.delete(client));",
    replace: '',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'the client of each unsafe request that found nobody is never let go',
  },
  {
    file: 'src/upstream/proxy-attempt.ts',
    find: "isStaleSocket && ended.kind === 'reset'",
    replace: 'isStaleSocket',
    test: 'test/upstream/create-passthrough.test.ts',
    why: 'a request is sent again after its deadline',
  },
  {
    file: 'src/upstream/proxy-attempt.ts',
    find: "if (phase === 'waiting') watch.start(options.headersTimeoutMs);",
    replace: 'watch.start(options.headersTimeoutMs);',
    test: 'test/upstream/create-passthrough.test.ts',
    why: 'the wait for a head begins although the response has begun',
  },
  {
    file: 'src/upstream/pass-body.ts',
    find: "if (!isWhole) end(new UpstreamFailure('truncated'));",
    replace: 'if (!isWhole) to.end();',
    test: 'test/upstream/pass-body.test.ts',
    why: 'a truncated body looks whole to the client',
  },
  {
    file: 'src/upstream/pass-body.ts',
    find: 'if (!to.write(part)) from.pause();',
    replace: 'to.write(part);',
    test: 'test/upstream/create-passthrough.test.ts',
    why: 'a client that reads slowly fills the memory',
  },
  {
    file: 'src/upstream/send-request.ts',
    find: 'body = readableOf(given, () => clearTimeout(pause), finish);',
    replace: 'body = readableOf(given, () => undefined, finish);',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a body is given up although its reader reads on after a pause',
  },
  {
    file: 'src/upstream/send-request.ts',
    find: "if (!isFinalHead(status, reason)) return giveUp(new UpstreamFailure('reset'));",
    replace: '',
    test: 'test/security/upstream-heads.test.ts',
    why: 'a malformed or interim head is taken for the head of a streamed response',
  },
  {
    file: 'src/upstream/send-buffered.ts',
    find: "if (!isFinalHead(code, reason)) return giveUp(new UpstreamFailure('reset'));",
    replace: '',
    test: 'test/security/upstream-heads.test.ts',
    why: 'a malformed or interim head is taken for the head of a buffered response',
  },
  {
    file: 'src/upstream/interim-responses.ts',
    find: "if (count > MAX_INTERIM_RESPONSES) return refuse('too many interim responses');",
    replace: '',
    test: 'test/upstream/interim-responses.test.ts',
    why: 'an upstream sends interim responses for ever',
  },
  {
    file: 'src/upstream/interim-responses.ts',
    find: "if (bytes + length > MAX_INTERIM_BYTES) return refuse('too many bytes of interim responses');",
    replace: '',
    test: 'test/upstream/interim-responses.test.ts',
    why: 'an upstream fills the memory with interim responses',
  },
  {
    file: 'src/upstream/send-buffered.ts',
    find: 'declared > limit',
    replace: 'declared >= limit',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a body that declares exactly the limit is too large',
  },
  {
    file: 'src/upstream/send-buffered.ts',
    find: 'if (length > limit)',
    replace: 'if (length >= limit)',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a body of exactly the limit is too large',
  },
  {
    file: 'src/upstream/read-body.ts',
    find: 'if (length > limit)',
    replace: 'if (length >= limit)',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'a transparent body of exactly the limit is not held in memory',
  },
  {
    file: 'src/lib/read-body.ts',
    find: 'if (size > limit)',
    replace: 'if (size >= limit)',
    test: 'test/pipeline/stages/validate-body.test.ts',
    why: 'a request body of exactly the limit is too large',
  },
  {
    file: 'src/upstream/upstream-gate.ts',
    find: 'try { // The circuit may have opened during the wait. refuseWhileOpen();',
    replace: 'try {',
    test: 'test/upstream/create-upstream.test.ts',
    why: 'what waited in the queue is sent although the circuit has opened',
  },
  // cache
  {
    file: 'src/cache/gzip.ts',
    find: 'if (known.size >= MAX_TEXTS) known.clear();',
    replace: '',
    test: 'test/cache/gzip.test.ts',
    why: 'every Accept-Encoding is remembered for ever',
  },
  {
    file: 'src/cache/tags.ts',
    find: 'items.length > MAX_ITEMS',
    replace: 'items.length >= MAX_ITEMS',
    test: 'test/cache/tags.test.ts',
    why: 'a page of 1,000 items gets no tags of its own',
  },
  // bounds of JSON
  {
    file: 'src/lib/bounded-json.ts',
    find: 'if (depth > maxDepth) return',
    replace: 'if (depth >= maxDepth) return',
    test: 'test/comments/redact-members.test.ts',
    why: 'a body of exactly the greatest depth is malformed',
  },
  // gdpr
  {
    file: 'src/gdpr/upload-memory.ts',
    find: 'Math.abs(clock() - at) < windowMs',
    replace: 'clock() - at < windowMs',
    test: 'test/gdpr/upload-memory.test.ts',
    why: 'a clock that was set back makes an upload a duplicate for as long',
  },
  // ladder
  {
    file: 'src/ladder/ladder-rows.ts',
    find: 'judged < minAnswers',
    replace: 'judged <= minAnswers',
    test: 'test/ladder/ladder-rows.test.ts',
    why: 'exactly as many responses as are asked for are not enough',
  },
  {
    file: 'src/ladder/ladder-rows.ts',
    find: 'minutes >= 2880',
    replace: 'minutes > 2880',
    test: 'test/ladder/ladder-rows.test.ts',
    why: 'two days are told in hours',
  },
  {
    file: 'src/ladder/ladder-rows.ts',
    find: 'minutes >= 120',
    replace: 'minutes > 120',
    test: 'test/ladder/ladder-rows.test.ts',
    why: 'two hours are told in minutes',
  },
  {
    file: 'src/ladder/ladder-rows.ts',
    find: 'Math.max(1, Math.round(ms / 60_000))',
    replace: 'Math.round(ms / 60_000)',
    test: 'test/ladder/ladder-rows.test.ts',
    why: 'a few seconds are told as 0 minutes',
  },
  {
    file: 'src/ladder/ladder-step.ts',
    find: "move: 'lifted', at: now",
    replace: "move: 'lifted'",
    test: 'test/ladder/create-ladder.test.ts',
    why: 'a lift has the time of the promotion',
  },
  // ledger
  {
    file: 'src/ledger/record/fingerprint.ts',
    find: 'if (recent.size >= MAX_REMEMBERED / 2) { older = recent; recent = new Map(); }',
    replace: '',
    test: 'test/ledger/record/create-ledger.test.ts',
    why: 'every violation is remembered for ever',
  },
  {
    file: 'src/ledger/record/create-ledger.ts',
    find: 'if (places.size >= MAX_REMEMBERED) places.clear();',
    replace: '',
    test: 'test/ledger/record/create-ledger.test.ts',
    why: 'every caller is remembered for ever',
  },
  {
    file: 'src/privacy/shown-text.ts',
    find: 'if (known.size >= MAX_REMEMBERED) known.clear();',
    replace: '',
    test: 'test/ledger/record/create-ledger.test.ts',
    why: 'every description is remembered for ever',
  },
  {
    file: 'src/ledger/store/hourly-counts.ts',
    find: 'if (hours.size > MAX_HOURS) mergeOldest(hours);',
    replace: '',
    test: 'test/ledger/store/memory-store.test.ts',
    why: 'the hours of a release grow without bound',
  },
  {
    file: 'src/ledger/record/traffic-counts.ts',
    find: 'hours.size < MAX_HOURS ? undefined : hours.values().next().value',
    replace: 'undefined',
    test: 'test/ledger/record/create-ledger.test.ts',
    why: 'the hours that wait for a store grow without bound',
  },
  {
    file: 'src/ledger/record/traffic-counts.ts',
    find: 'trace.startedAt < startsAt || trace.startedAt >= endsAt',
    replace: 'trace.startedAt >= endsAt',
    test: 'test/ledger/record/create-ledger.test.ts',
    why: 'after the clock was set back, requests count in an hour that has not come',
  },
  {
    file: 'src/ledger/store/sqlite-retention.ts',
    find: 'forgetReleases.run(before);',
    replace: '',
    test: 'test/ledger/store/sqlite-store.test.ts',
    why: 'the names of releases stay in the file for ever',
  },
];
