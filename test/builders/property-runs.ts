/**
 * Returns how many times to run a property test that drives whole gateways. Each test run tries different values, so a
 * few are enough; `PORTICO_FUZZ=long npm test` tries ten times as many, as `npm run prove` does.
 */
export const propertyRuns = (usual: number): number => (process.env['PORTICO_FUZZ'] === 'long' ? 10 * usual : usual);
