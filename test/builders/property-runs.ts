/**
 * Returns the number of runs of a property that drives whole gateways. Every run of the tests tries other values, so
 * that few of them are enough each time; `PORTICO_FUZZ=long npm test` tries ten times as many.
 */
export const propertyRuns = (usual: number): number => (process.env['PORTICO_FUZZ'] === 'long' ? 10 * usual : usual);
