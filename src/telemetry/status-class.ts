/** The classes of statuses that are told apart; `aborted` is status 0: nobody got an answer. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'aborted', 'other'] as const;

/** The class of a status, from a fixed set; undefined counts as `aborted`. */
export function statusClass(status: number | undefined): (typeof STATUS_CLASSES)[number] {
  if (status === undefined || status === 0) return 'aborted';
  if (status >= 200 && status < 300) return '2xx';
  if (status >= 300 && status < 400) return '3xx';
  if (status >= 400 && status < 500) return '4xx';
  if (status >= 500 && status < 600) return '5xx';
  return 'other';
}
