import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { createSilenceWatch } from '../lib/silence-watch.ts';
import { isFinalHead } from './final-head.ts';
import { MAX_INTERIM_RESPONSES } from './interim-responses.ts';
import { planAnswer, writeHead, type AnswerChoice } from './passed-answer.ts';
import { passBody } from './pass-body.ts';
import { hasBody } from './passed-request.ts';
import type { PassthroughResult } from './passthrough-context.ts';
import type { ProxyAttempt } from './proxies.ts';
import { toTransportFailure, type ExchangePhase } from './transport-failure.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** What an attempt works on. */
export interface AttemptMaterial extends AnswerChoice {
  readonly passed: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly options: UpstreamOptions;
  /** Called once the upstream's head is there: what is left takes as long as the client wants. */
  readonly onHead: () => void;
}

/** A failure before anything was written to the client. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly failure: UpstreamFailure;
  /** True when a kept connection turned out to be dead before a byte of the answer came. */
  readonly isStaleSocket: boolean;

  constructor(failure: UpstreamFailure, isStaleSocket: boolean) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.isStaleSocket = isStaleSocket;
  }
}

/** Runs one request through a proxy, with deadlines; rejects with `AttemptFailure` while nothing is written. */
export function createAttempt(
  proxy: (attempt: ProxyAttempt) => void,
  material: AttemptMaterial,
): Promise<PassthroughResult> {
  const { passed, response, context, options } = material;
  return new Promise((resolve, reject) => {
    let phase: ExchangePhase = 'connecting';
    let outgoing: ClientRequest | undefined;
    let incoming: IncomingMessage | undefined;
    let bytesBefore = 0;
    let bytes = 0;
    let ended: UpstreamFailure | undefined;

    const patienceMs = options.clientTimeoutMs;
    const watch = createSilenceWatch((end) => fail(new UpstreamFailure(end === 'silence' ? 'deadline' : 'aborted')));
    const fail = (error: unknown) => {
      if (ended) return;
      const isStaleSocket =
        phase === 'waiting' && outgoing?.reusedSocket === true && (outgoing.socket?.bytesRead ?? 0) === bytesBefore;
      // When the client left first, what the sockets then report is a consequence.
      ended =
        response.destroyed && phase !== 'body' ? new UpstreamFailure('aborted') : toTransportFailure(error, phase);
      watch.stop();
      outgoing?.destroy();
      if (!response.headersSent) reject(new AttemptFailure(ended, isStaleSocket && ended.kind === 'reset'));
      else response.destroy();
    };
    // What becomes of a connection after the last byte of the response is of no interest to the client.
    const onTransportError = (error: unknown) => {
      if (incoming?.complete !== true) fail(error);
    };

    const onRequest = (request: ClientRequest) => {
      outgoing = request;
      if (ended) return void request.destroy();
      // The library reports errors a turn later. By then Node has ended a body without a length as if it were whole.
      request.once('error', onTransportError);
      // Without a listener Node would close the connection, and the request would wait for its deadline.
      request.once('upgrade', (_switched, socket) => {
        socket.destroy();
        fail(new UpstreamFailure('reset'));
      });
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_RESPONSES) fail(new UpstreamFailure('reset'));
      });
      const { socket } = request;
      bytesBefore = socket?.bytesRead ?? 0;
      let sent = !hasBody(passed);
      const connected = () => {
        phase = 'waiting';
        // A body on its way up may be slow because the client is; the upstream is silent only when it does not read.
        if (sent) watch.start(options.headersTimeoutMs);
        else watch.start(options.bodyTimeoutMs, { excused: () => !request.writableNeedDrain, patienceMs });
      };
      if (socket?.connecting) {
        watch.start(options.connectTimeoutMs);
        socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected);
      } else connected();
      if (sent) return undefined;
      passed.on('data', watch.touch);
      request.once('finish', () => {
        sent = true;
        passed.off('data', watch.touch);
        if (phase === 'waiting') watch.start(options.headersTimeoutMs);
      });
      return undefined;
    };

    const onAnswer = (answer: IncomingMessage) => {
      // It may come with the bytes that were the failure.
      if (ended) return void answer.destroy();
      incoming = answer;
      if (!isFinalHead(answer.statusCode, answer.statusMessage)) return fail(new UpstreamFailure('reset'));
      try {
        const plan = planAnswer(answer, material);
        const added = context.onAnswer?.(answer.statusCode ?? 0, plan.headers) ?? [];
        phase = 'body';
        material.onHead();
        // Once the upstream is done, or while we do not read on, whatever is slow is the client.
        const excused = () => answer.readableEnded || response.writableNeedDrain;
        watch.start(options.bodyTimeoutMs, { excused, patienceMs });
        writeHead(response, answer, added.length === 0 ? plan.headers : [...plan.headers, ...added]);
        passBody({
          from: answer,
          through: plan.transforms,
          to: response,
          onRead: (part) => {
            watch.touch();
            plan.scan?.(part);
          },
          onPassed: (part) => {
            bytes += part.length;
          },
          onEnd: (error) => {
            watch.stop();
            const failure = ended ?? (error ? toTransportFailure(error, 'body') : undefined);
            resolve({ status: answer.statusCode ?? 0, bytes, ...(failure && { failure }) });
          },
        });
      } catch (error) {
        // Not a failure of the upstream, so it is not dressed up as one.
        ended = new UpstreamFailure('aborted', { cause: error });
        watch.stop();
        answer.destroy();
        reject(error);
      }
    };

    // The library and two attempts all wait for the same response to close; that is no leak.
    response.setMaxListeners(Math.max(32, response.getMaxListeners()));
    proxy({ passed, response, path: material.path, onRequest, onAnswer, onError: onTransportError });
  });
}
