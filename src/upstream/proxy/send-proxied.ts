import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { createSilenceWatch } from '../../lib/silence-watch.ts';
import { StreamedBody } from '../../model/streamed-body.ts';
import { type FailureCause, UpstreamFailure } from '../../model/upstream-failure.ts';
import { readHead, type Stop } from '../sending.ts';
import { MAX_INTERIM_RESPONSES, readAfterWriteError } from '../connections.ts';
import type { StreamedResponse } from '../send-request.ts';
import { toTransportFailure, type ExchangePhase } from '../transport-failure.ts';
import type { UpstreamOptions } from '../upstream-options.ts';
import type { ProxiedRequest, Proxy } from './create-proxy.ts';

/** The limits for sending a request with a body. */
interface ProxiedBounds {
  /** Stops the exchange. The reason for the stop becomes the error of the exchange. */
  readonly stop: Stop;
  readonly options: Pick<
    UpstreamOptions,
    'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs' | 'clientTimeoutMs'
  >;
}

/** The cause to report if the upstream falls silent, by phase of the exchange. */
const SILENT: Readonly<Record<ExchangePhase, FailureCause>> = {
  connecting: 'connection_timeout',
  waiting: 'http_response_timeout',
  body: 'connection_read_timeout',
};

/** Sends a request with its body once and resolves with the head of the response. Rejects with an `UpstreamFailure`. */
export function sendProxied(
  proxy: Proxy,
  request: ProxiedRequest,
  { stop, options }: ProxiedBounds,
): Promise<StreamedResponse> {
  return new Promise((resolve, reject) => {
    if (stop.reason) return reject(stop.reason);
    const patienceMs = options.clientTimeoutMs;
    let phase: ExchangePhase = 'connecting';
    let outgoing: ClientRequest | undefined;
    let incoming: IncomingMessage | undefined;
    let body: StreamedBody | undefined;
    let ended = false;
    let uploadBroke = false;

    const watch = createSilenceWatch((end) =>
      fail(
        end === 'silence'
          ? new UpstreamFailure('deadline', { failureCause: SILENT[phase] })
          : new UpstreamFailure('aborted'),
      ),
    );
    const finish = () => {
      ended = true;
      watch.stop();
      stop.listen(undefined);
      outgoing?.destroy();
      end();
    };
    const fail = (error: unknown) => {
      if (ended) return;
      finish();
      const isClients = request.body instanceof Readable && request.body.errored !== null;
      const failure = isClients ? new UpstreamFailure('aborted', { cause: error }) : toTransportFailure(error, phase);
      if (body) body.finish(failure);
      else reject(failure);
    };
    // Once the last byte of the response has arrived, connection errors no longer affect the client.
    const onError = (error: unknown) => {
      if (incoming?.complete !== true) fail(error);
    };

    const onRequest = (given: ClientRequest, upload: Readable) => {
      outgoing = given;
      if (ended) return void given.destroy();
      // The library reports most errors one turn of the event loop later. By then, Node would already have ended a body
      // without a length as if it were complete.
      given.once('error', onError);
      // Without a listener, Node would close the connection and leave the request to wait until its deadline.
      given.once('upgrade', (_switched, socket) => {
        socket.destroy();
        fail(new UpstreamFailure('reset', { failureCause: 'http_protocol_error' }));
      });
      let interim = 0;
      given.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_RESPONSES)
          fail(new UpstreamFailure('reset', { failureCause: 'http_protocol_error' }));
      });
      const connected = () => {
        phase = 'waiting';
        // During an upload, the client may be the slow side. The upstream is considered silent only if it stops reading
        // the body.
        watch.start(options.bodyTimeoutMs, { excused: () => !given.writableNeedDrain, patienceMs });
      };
      watch.start(options.connectTimeoutMs);
      const { socket } = given;
      if (socket) readAfterWriteError(socket, () => (uploadBroke = true));
      socket?.once('encrypted' in socket ? 'secureConnect' : 'connect', connected);
      upload.on('data', watch.touch);
      given.once('finish', () => {
        upload.off('data', watch.touch);
        if (phase === 'waiting') watch.start(options.headersTimeoutMs);
      });
      return undefined;
    };

    const onResponse = (given: IncomingMessage) => {
      // The response may arrive together with the bytes that caused the failure.
      if (ended) return void given.destroy();
      const { statusCode: status = 0, statusMessage: reason = '' } = given;
      const head = readHead({ method: request.method, status, reason, rawHeaders: given.rawHeaders });
      if (head instanceof UpstreamFailure) return fail(head);
      incoming = given;
      phase = 'body';
      // While reading is paused, the client is responsible for any delay.
      watch.start(options.bodyTimeoutMs, { excused: () => given.isPaused(), patienceMs });
      const received = new StreamedBody({ pause: () => given.pause(), resume: () => given.resume(), abort: finish });
      body = received;
      given.on('data', (part: Buffer) => {
        watch.touch();
        received.push(part);
      });
      given.once('error', onError);
      given.once('end', () => {
        if (ended) return undefined;
        // The connection broke during the upload, so the response may have ended before it was complete.
        if (uploadBroke && !head.isFramed) return fail(new UpstreamFailure('truncated'));
        finish();
        return received.finish();
      });
      return resolve({ status, reason, headers: head.headers, body: received });
    };

    const end = proxy(request, { onRequest, onResponse, onError });
    return stop.listen((reason) => (body === undefined ? fail(reason) : body.destroy(reason)));
  });
}
