/** Sessions as plain JSON, which continue in another process. */

export type { CountsSnapshot } from '../circuit/trip-policies/trip-policies.ts';
export type { RestoreOptions } from '../config/config.ts';
export { restore } from './restore.ts';
export type {
  ChargeSnapshot,
  CircuitSnapshot,
  KeySnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  OutageSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
  StrictBudgetSnapshot,
  WindowBudgetSnapshot,
  WindowChargeSnapshot,
} from './session-snapshot.ts';
export { snapshot } from './snapshot.ts';
