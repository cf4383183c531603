import type { Session } from './session-api.ts';
import { sessionInternals } from './session-internals.ts';

/**
 * Ends a pause of the budget once its oldest charge has left the window, for a session that no code resumes (M5). The other charges still
 * count.
 *
 * @returns when the pause ends, on the clock of the box in milliseconds. Undefined if the budget does not pause the session, or by the rule
 *   `strict` (B6).
 */
export const endPause = (session: Session): number | undefined => sessionInternals(session, 'endPause()').endPause();
