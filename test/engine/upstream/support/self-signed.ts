import { generateKeyPairSync, sign } from 'node:crypto';

/** Returns a new key and a self-signed certificate, for servers that must not be trusted. */
export function selfSigned(commonName: string): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(tag(0x31, sequence(oid(0x55, 0x04, 0x03), tag(0x0c, Buffer.from(commonName)))));
  const validity = sequence(tag(0x17, Buffer.from('200101000000Z')), tag(0x17, Buffer.from('491231235959Z')));
  const serial = tag(0x02, Buffer.from([1]));
  const publicBytes = publicKey.export({ type: 'spki', format: 'der' });
  const content = sequence(serial, algorithm, name, validity, name, publicBytes);
  const signature = tag(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]));
  const bytes = sequence(content, algorithm, signature).toString('base64');
  const cert = `-----BEGIN CERTIFICATE-----\n${bytes.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }), cert };
}

function tag(type: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([type, ...size]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => tag(0x30, Buffer.concat(parts));
const oid = (...bytes: number[]): Buffer => tag(0x06, Buffer.from(bytes));
