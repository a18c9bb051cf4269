/**
 * Returns how often to run a property that drives whole gateways. Every test run tries other values, so a few are
 * enough each time; `PORTICO_FUZZ=long npm test` tries ten times as many.
 */
export const propertyRuns = (usual: number): number => (process.env['PORTICO_FUZZ'] === 'long' ? 10 * usual : usual);
