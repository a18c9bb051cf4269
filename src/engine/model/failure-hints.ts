import type { FailureCause, FailureFacts } from './failure-cause.ts';

/** The schemes of a protocol's URLs, without and with TLS. */
interface Schemes {
  readonly plain: string;
  readonly secure: string;
}

const HTTP: Schemes = { plain: 'http://', secure: 'https://' };

/** The most likely explanation for each cause that an operator can fix. */
const hints = ({ plain, secure }: Schemes): Partial<Readonly<Record<FailureCause, string>>> => ({
  dns_timeout: 'the host name cannot be resolved; check the URL and the DNS of this machine',
  dns_error: 'the host name cannot be resolved; check the URL and the DNS of this machine',
  destination_ip_unroutable: 'there is no route to the server; check the URL and the network',
  connection_refused: 'the server does not accept connections on this port; check the port and whether it is running',
  connection_timeout: 'the server does not accept the connection in time; check the port and the firewalls',
  connection_terminated: `the server closes the connection; check whether the URL must start with ${plain} or ${secure}`,
  tls_certificate_error:
    'the certificate is not trusted; add the authority that issued it with NODE_EXTRA_CA_CERTS, or correct the host name',
  tls_protocol_error: `the TLS handshake fails; check whether the URL must start with ${plain}`,
  tls_alert_received: 'the server refuses the TLS handshake; it may require a client certificate',
  http_protocol_error: 'the server does not speak HTTP/1.1 on this port; check the port and the scheme of the URL',
  http_response_incomplete: 'the server closes the connection in the middle of a response',
  http_response_timeout: 'the server does not respond in time',
});

/**
 * Returns the most likely explanation for a failed exchange, with the error's code. `schemes` are those of the server's
 * protocol, which is HTTP by default.
 */
export function failureHint({ cause, code }: FailureFacts, schemes = HTTP): string {
  const hint = hints(schemes)[cause] ?? 'the exchange with the server fails';
  return `${hint} (${code ?? cause})`;
}

/**
 * Returns the most likely explanation for a status that no operation returns if the base address is correct, or
 * undefined for other statuses. `basePath` is the path under which all of the API's addresses lie.
 */
export function statusHint(status: number, basePath: string): string | undefined {
  if (status === 404)
    return `the base path is wrong; the URL must end before ${basePath.slice(0, -1)}, for example http://host/qa`;
  if (status >= 300 && status < 400)
    return 'it redirects, for example to a login page or to https; use the target of the redirect';
  return undefined;
}
