import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readableFileFault } from '../../engine/config/secrets.ts';
import type { PrepareContext, PreparedFeature } from '../../engine/config/settings.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { isClearAndPublic } from '../../lib/network-address.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import type { ChangesOptions, WebhookOptions } from './options.ts';
import type { ReadSecrets } from './run-feed.ts';
import { readKeys } from './webhook-message.ts';
import type { Webhook } from './webhooks.ts';

/**
 * Reads the password of the account, and the keys and addresses of the webhooks. All errors are reported together, and
 * never contain a secret.
 */
export function readSecrets({
  options,
  settings,
}: PrepareContext<ChangesOptions, ReadSecrets>): PreparedFeature<ReadSecrets> {
  const faults: Fault[] = [];
  const fault = (pointer: string, message: string, suggestion?: string) => {
    faults.push({
      ...settings.placeOf(`/changes${pointer}`),
      message,
      ...(suggestion !== undefined && { suggestion }),
    });
  };
  const { username, passwordFile, secrets } = options;
  let authorization: string | undefined;
  if (username !== undefined && passwordFile !== undefined) {
    const reading = readSecretFile(passwordFile);
    if ('fault' in reading) fault('/passwordFile', reading.fault);
    else authorization = toAuthorization(username, reading.text);
  }
  const checkMode = (pointer: string, path: string) => {
    const readable = readableFileFault(settings, path);
    if (readable !== undefined) fault(pointer, readable.message, readable.suggestion);
  };

  const webhooks = options.webhooks.flatMap((webhook, index): readonly Webhook[] => {
    const pointer = `/webhooks/${index}`;
    const url =
      webhook.url ??
      addressIn(webhook, secrets, (message, path) => {
        fault(`${pointer}/url`, message, path === undefined ? 'set url, or secrets' : undefined);
      });
    if (webhook.url === undefined && secrets !== undefined) checkMode(pointer, join(secrets, `${webhook.name}.url`));
    const problem = url === undefined ? undefined : addressProblem(url);
    if (problem !== undefined) fault(webhook.url === undefined ? pointer : `${pointer}/url`, problem);
    const keys = keysOf(webhook, secrets, (message) => fault(pointer, message, KEY_ADVICE));
    if (keys.length > 0 && secrets !== undefined) checkMode(pointer, join(secrets, `${webhook.name}.key`));
    return url === undefined ? [] : [{ ...webhook, url, keys }];
  });
  if (faults.length > 0) throw new StartFault(faults);
  const version = createHash('sha256')
    .update(JSON.stringify([authorization, webhooks.map(({ url, keys }) => [url, keys.map(String)])]))
    .digest('hex');
  return { value: { authorization, webhooks }, subject: 'the secrets of the change feed', version };
}

const KEY_ADVICE = 'write a line such as the output of: echo "whsec_$(openssl rand -base64 32)"';

/** Returns the secret address of a webhook. */
function addressIn(
  { name }: WebhookOptions,
  folder: string | undefined,
  fault: (message: string, path?: string) => void,
): string | undefined {
  if (folder === undefined) {
    fault('is missing');
    return undefined;
  }
  const path = join(folder, `${name}.url`);
  const reading = readSecretFile(path);
  if ('text' in reading) return reading.text.trim();
  fault(`is missing, and ${reading.fault}`, path);
  return undefined;
}

function addressProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'is not an address';
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must start with https:// or http://';
  if (username !== '' || password !== '') return 'must not contain a name or a password';
  return isClearAndPublic(url)
    ? 'must use https, because messages would cross a public network unencrypted'
    : undefined;
}

/** Returns the signing keys of a webhook. Only chats, whose addresses are secret, need none. */
function keysOf(
  { name, format }: WebhookOptions,
  folder: string | undefined,
  fault: (message: string) => void,
): readonly Buffer[] {
  if (format !== 'standard') return [];
  if (folder === undefined) {
    fault('needs a signing key, so changes.secrets must be set');
    return [];
  }
  const path = join(folder, `${name}.key`);
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    fault(`needs a signing key, but the file ${path} cannot be read: ${fileReason(error)}`);
    return [];
  }
  const keys = readKeys(text);
  if (keys === undefined) fault(`the file ${path} must contain one to three lines with whsec_ and a key in base64`);
  return keys ?? [];
}
