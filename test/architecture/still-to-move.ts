/**
 * The imports that the layers do not permit but that still exist: the engine and some features still know parts that are
 * to stand behind the `Feature` interface or in the profile. The list only becomes shorter: a test fails if a listed
 * import is gone, or if another one appears.
 */
export const STILL_TO_MOVE: readonly string[] = [
  'engine/assembly/assemble-edges.ts → features/console/operator-console.ts',
  'engine/assembly/assemble-edges.ts → features/console/traffic-history.ts',
  'engine/assembly/lasting-services.ts → features/console/traffic-history.ts',
  'engine/telemetry/metrics.ts → features/console/traffic-history.ts',
  'engine/telemetry/request-metrics.ts → features/console/traffic-history.ts',
];
