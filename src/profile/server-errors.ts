import type { ServerErrors } from '../engine/model/server-errors.ts';

/** The two forms in which the server reports errors. The end of a denial in the second form is documented. */
export const serverErrors: ServerErrors = [
  { name: 'error', at: ['error'] },
  { name: 'errors.message', at: ['errors', 'message'], endOfDenials: '<br>Please log in as another user.' },
];
