import type { Profile } from '../contract/api-profile.ts';
import type { Configurable } from './settings.ts';

/** What distinguishes one gateway program from another: the API that it knows, and its features. */
export interface Product {
  readonly profile: Profile;
  readonly features: readonly Configurable[];
}
