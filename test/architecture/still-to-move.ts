/**
 * The imports that the layers do not permit but that still exist: the engine and some features still know parts that are
 * to stand behind the `Feature` interface or in the profile. The list only becomes shorter: a test fails if a listed
 * import is gone, or if another one appears.
 */
export const STILL_TO_MOVE: readonly string[] = [
  'engine/assembly/assemble-edges.ts → features/console/operator-console.ts',
  'engine/assembly/assemble-edges.ts → features/console/traffic-history.ts',
  'engine/assembly/assemble-edges.ts → features/levels/overrides/overrides-router.ts',
  'engine/assembly/assemble-services.ts → features/levels/assemble-ladder.ts',
  'engine/assembly/compile-gateway.ts → features/levels/ladder/ladder-rows.ts',
  'engine/assembly/compile-gateway.ts → features/levels/overrides/override-effect.ts',
  'engine/assembly/lasting-services.ts → features/console/traffic-history.ts',
  'engine/assembly/lasting-services.ts → features/levels/assemble-ladder.ts',
  'engine/assembly/lasting-services.ts → features/levels/assemble-overrides.ts',
  'engine/assembly/lasting-services.ts → features/levels/ladder/create-ladder.ts',
  'engine/assembly/lasting-services.ts → features/levels/ladder/ladder-file.ts',
  'engine/assembly/lasting-services.ts → features/levels/ladder/ladder-step.ts',
  'engine/assembly/lasting-services.ts → features/levels/overrides/create-overrides.ts',
  'engine/assembly/lasting-services.ts → features/levels/overrides/override.ts',
  'engine/assembly/load-start.ts → features/levels/assemble-ladder.ts',
  'engine/assembly/load-start.ts → features/levels/assemble-overrides.ts',
  'engine/assembly/load-start.ts → features/levels/ladder/ladder-step.ts',
  'engine/config/config-schema.ts → features/levels/ladder/ladder-options.ts',
  'engine/config/config-schema.ts → features/levels/overrides/overrides-options.ts',
  'engine/config/load-settings.ts → features/levels/ladder/ladder-options.ts',
  'engine/config/load-settings.ts → features/levels/overrides/overrides-options.ts',
  'engine/config/settings.ts → features/levels/ladder/ladder-options.ts',
  'engine/config/settings.ts → features/levels/overrides/overrides-options.ts',
  'engine/pipeline/stage.ts → features/levels/overrides/override-effect.ts',
  'engine/telemetry/metrics.ts → features/console/traffic-history.ts',
  'engine/telemetry/metrics.ts → features/levels/ladder-metrics.ts',
  'engine/telemetry/request-metrics.ts → features/console/traffic-history.ts',
  'features/console/console-sources.ts → features/levels/ladder/create-ladder.ts',
  'features/console/console-sources.ts → features/levels/overrides/create-overrides.ts',
  'features/console/create-api.ts → features/levels/overrides/overrides-router.ts',
];
