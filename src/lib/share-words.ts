/** Formats a share as `12.5%`, `100%` or `< 0.1%`. The result is `?` if the traffic is unknown. */
export function shareWords(share: number | undefined): string {
  if (share === undefined) return '?';
  if (share > 0 && share < 0.001) return '< 0.1%';
  const percent = share * 100;
  return `${percent >= 99.95 ? (share === 1 ? '100' : '> 99.9') : percent.toFixed(1).replace(/\.0$/, '')}%`;
}
