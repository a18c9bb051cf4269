import type { ComparedFinding } from './comparison.ts';
import { CHANGE_WORDS, changedShares, comparisonWords, groupedByChange, NO_DIFFERENCE } from './comparison-words.ts';
import { htmlPage, htmlTable, htmlTime } from './html-page.ts';
import { escapeMarkup } from './plain-text.ts';
import type { RenderComparison } from './render-options.ts';
import { operationName, placeWords } from './report-words.ts';

const COLUMNS = ['Operation', 'Baseline', 'Violation', 'Category', 'Share', 'Fingerprint'];

/** A comparison as one page that asks for nothing else. */
export const renderComparedHtml: RenderComparison = (comparison, { version }) => {
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) => {
    const title = `${CHANGE_WORDS[change]} (${findings.length})`;
    return [`<h2 id="${change}">${title}</h2>`].concat(htmlTable(title, COLUMNS, findings.map(rowOf)));
  });
  return htmlPage('Contract comparison', [
    `<p><strong>${escapeMarkup(comparisonWords(comparison))}</strong></p>`,
    `<p class="soft">Portico ${escapeMarkup(version)}, ${htmlTime(comparison.takenAt)} UTC</p>`,
    ...(groups.length === 0 ? [`<p>${NO_DIFFERENCE}</p>`] : groups),
  ]);
};

function rowOf(one: ComparedFinding): string {
  const { entry, standing } = one.finding;
  return [
    `<tr><th scope="row"><code>${escapeMarkup(operationName(entry.operation))}</code></th>`,
    `<td class="state ${standing}">${standing === 'new' ? 'not accepted' : standing}</td>`,
    `<td><code>${escapeMarkup(placeWords(entry))}</code><br>${escapeMarkup(entry.message)}</td>`,
    `<td>${entry.category}</td><td class="number">${escapeMarkup(changedShares(one))}</td>`,
    `<td><code>${escapeMarkup(entry.fingerprint)}</code></td></tr>`,
  ].join('');
}
