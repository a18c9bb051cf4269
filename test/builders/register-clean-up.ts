import { registerCleanUp } from './clean-up.ts';
import { seedPropertyTests } from './property-runs.ts';

// Vitest runs this once for every test file (`setupFiles`).
registerCleanUp();
seedPropertyTests();
