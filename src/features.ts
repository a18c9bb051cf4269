import type { Static, TSchema } from 'typebox';
import type { Feature } from './engine/feature.ts';
import { baseline } from './features/baseline/baseline.ts';
import { changes } from './features/changes/changes.ts';
import { operatorConsole } from './features/console/console.ts';
import { cors } from './features/cors/cors.ts';
import { cutover } from './features/cutover/cutover.ts';
import { deprecation } from './features/deprecation/deprecation.ts';
import { learning } from './features/learning/learning.ts';
import { ledger } from './features/ledger/ledger.ts';
import { levels } from './features/levels/levels.ts';
import { oidc } from './features/oidc/oidc.ts';
import { mirror } from './features/mirror/mirror.ts';
import { rateLimits } from './features/rate-limits/rate-limits.ts';
import { rehearsal } from './features/rehearsal/rehearsal.ts';
import { releaseDrift } from './features/release-drift/release-drift.ts';
import { shadowContract } from './features/shadow-contract/shadow-contract.ts';
import { tokens } from './features/tokens/tokens.ts';
import { auditTrail } from './features/trail/trail.ts';
import { tracing } from './features/tracing/tracing.ts';
import { PROFILE_FEATURES } from './profile/profile.ts';

/** The features of Portico, in the order in which they start. To take a feature out, remove its folder and its line. */
const list = [
  ...PROFILE_FEATURES,
  auditTrail,
  baseline,
  ledger,
  levels,
  operatorConsole,
  cors,
  cutover,
  deprecation,
  learning,
  changes,
  mirror,
  rateLimits,
  rehearsal,
  releaseDrift,
  shadowContract,
  tracing,
  tokens,
  oidc,
] as const;

/** All features of Portico. */
export const FEATURES: readonly Feature[] = list;

/** The features' keys in a configuration that a program passes. The defaults fill in what is missing. */
export type FeatureConfig = TopLevel & InSections;

/** The features that have options. */
type Listed = Extract<(typeof list)[number], { readonly options: unknown }>;

type TopLevel = {
  readonly [One in Listed as Exclude<One['name'], `${string}.${string}`>]?: Options<One>;
};

/** The keys of features in sections of the engine. */
type InSections = {
  readonly [One in Listed as One['name'] extends `${infer Section}.${string}` ? Section : never]?: {
    readonly [Key in One['name'] as Key extends `${string}.${infer Name}` ? Name : never]?: Options<One>;
  };
};

type Options<One extends { readonly options: unknown }> = Given<Static<One['options'] & TSchema>>;

type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: Given<Value[Key]> }
    : Value;
