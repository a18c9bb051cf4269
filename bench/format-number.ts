/** A number with thousands separated, and decimals only where they say something. */
export function formatNumber(value: number, decimals = value < 100 ? 1 : 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
