import { registerCleanUp } from './clean-up.ts';

// Vitest runs this once for every test file (`setupFiles`).
registerCleanUp();
