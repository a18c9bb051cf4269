/** Formats a number with thousands separators, and with decimals only if it is small. */
export function formatNumber(value: number, decimals = value < 100 ? 1 : 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
