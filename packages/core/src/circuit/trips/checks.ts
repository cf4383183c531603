import type { Check } from '../../checks.ts';
import { checkFailureThreshold } from './consecutive.ts';
import { checkFailureRate } from './failure-rate.ts';
import { checkSlowCallRate } from './slow-call-rate.ts';
import { checkWastedTokens } from './wasted-tokens.ts';

/** Checks of the trip policies in a tool's configuration (C3, E6). */
export const tripChecks = {
  failureThreshold: checkFailureThreshold,
  failureRate: checkFailureRate,
  slowCallRate: checkSlowCallRate,
  wastedTokens: checkWastedTokens,
} satisfies Record<string, Check>;
