/** Sessions as plain JSON, which continue in another process. */

export type { CountsSnapshot } from '../circuit/trip-policies/trip-policies.ts';
export type { RestoreOptions } from '../config/config.ts';
export { restore } from './restore.ts';
export {
  type ChargeSnapshot,
  type CircuitSnapshot,
  type KeySnapshot,
  type LedgerSnapshot,
  type MomentSnapshot,
  type OpeningSnapshot,
  type OutageSnapshot,
  type ProvisionalSnapshot,
  type SessionSnapshot,
  type StrictBudgetSnapshot,
  snapshot,
  type WindowBudgetSnapshot,
  type WindowChargeSnapshot,
} from './snapshot.ts';
