import { escapeUTF8 } from 'entities/escape';
import { type FeedEvent, publicId } from './event.ts';

/** What an Atom feed says about itself. */
export interface AtomHead {
  readonly list: string;
  readonly summary: string;
  readonly lineage: string;
  /** The time of the feed if it has no entries, in epoch milliseconds. */
  readonly at: number;
  /** The address of the feed, relative to that of the server. */
  readonly self: string;
}

/** Returns the Atom feed (RFC 4287) of a list, from its latest events, the latest first. */
export function atomFeed({ list, summary, lineage, at, self }: AtomHead, events: readonly FeedEvent[]): string {
  const entries = events.map((event) => {
    const { number, kind, target, title, data } = event;
    const words = `${kind} ${target.type} ${target.id}`;
    return `  <entry>
    <id>urn:portico:change:${publicId(lineage, number)}</id>
    <title>${text(title === undefined ? words : `${title} (${words})`)}</title>
    <updated>${instant(event.at)}</updated>
    <category term="${text(kind)}"/>
    <content type="text">${text(data)}</content>
  </entry>
`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:portico:changes:${lineage}:${text(list)}</id>
  <title>${text(`${list}: ${summary}`)}</title>
  <link rel="self" href="${text(self)}"/>
  <author><name>Portico</name></author>
  <updated>${instant(events[0]?.at ?? at)}</updated>
${entries.join('')}</feed>
`;
}

const instant = (at: number) => new Date(at).toISOString();

/** Escapes a text for XML. Characters that XML 1.0 does not allow are removed. */
// oxlint-disable-next-line no-control-regex -- these are the characters to remove
const text = (value: string) => escapeUTF8(value.replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, ''));
