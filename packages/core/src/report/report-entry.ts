/** The state of a session, as data and as text. */

export type { BudgetReport, ChargeReport, WindowReport } from './budget-report.ts';
export {
  formatPauseReport,
  formatReport,
  formatScopeReport,
  formatStateTable,
  formatSystemicReport,
} from './format.ts';
export { type ReportOptions, report } from './report.ts';
export type {
  AchievableReport,
  BlockerReport,
  DeferredReport,
  FallbackReport,
  LeftOut,
  ScopeReport,
} from './scope-report.ts';
export type { SessionReport, SystemicReport } from './session-report.ts';
export type { CallReport, GroupReport, ProbeReport, RejectedReport, ToolReport } from './tool-report.ts';
