import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Feature } from '../../src/engine/feature.ts';
import type { Credential, Scheme, Verifier } from '../../src/engine/identity/verifier.ts';
import type { Access } from '../../src/engine/model/principal.ts';
import { basic } from '../builders/call.ts';

const options = Type.Object({ keyFile: Type.String({ default: '' }) }, { default: {} });

/** Returns the card of a member: the name, and a keyed hash of it. */
export const cardOf = (name: string, key: string): string =>
  `${name}.${createHmac('sha256', key).update(name).digest('hex')}`;

interface Card extends Credential {
  readonly name: string;
  readonly card: string;
}

const SCHEME: Scheme<Card> = {
  name: 'Bearer',
  read(header) {
    if (!/^bearer(?: |$)/i.test(header)) return undefined;
    const card = header.slice('bearer '.length);
    const [, name] = /^([a-z]{1,20})\.[0-9a-f]{64}$/.exec(card) ?? [];
    return name === undefined ? 'malformed' : { authorization: header, name, card };
  },
  challenge: (realm, refused) => `Bearer realm="${realm}"${refused === undefined ? '' : ', error="invalid_token"'}`,
};

/** Lets members browse with a card instead of their password. A card never lets its holder sell. */
export const memberCards: Feature<typeof options> = {
  name: 'memberCards',
  options,
  files: { keyFile: 'secret' },
  start({ options: { keyFile } }) {
    if (keyFile === '') return undefined;
    const key = readFileSync(keyFile, 'utf8');
    const cards = new Map<string, Access>();
    const verifier: Verifier<Card> = {
      scheme: SCHEME,
      asksUpstream: false,
      withheld: true,
      verify({ name, card }) {
        const isValid = timingSafeEqual(Buffer.from(card), Buffer.from(cardOf(name, key)));
        if (!isValid) return Promise.resolve({ kind: 'invalid' });
        const access = cards.get(name) ?? {
          id: 'card',
          only: new Set(['browse']),
          // The shop itself knows only sellers.
          ...(name === 'sylvia' && { authorization: basic(name) }),
        };
        cards.set(name, access);
        return Promise.resolve({ kind: 'valid', access });
      },
      calibrate: () => Promise.resolve({ kind: 'calibrated' }),
    };
    return { verifiers: [verifier] };
  },
};
