/** Formats a number with thousands separators. Only small numbers have decimals. */
export function formatNumber(value: number, decimals = value < 100 ? 1 : 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
