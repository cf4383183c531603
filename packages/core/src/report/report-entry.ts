/** The state of a session, as data and as text. */

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
  BudgetReport,
  ChargeReport,
  DeferredReport,
  FallbackReport,
  LeftOut,
  ScopeReport,
  SessionReport,
  SystemicReport,
  WindowReport,
} from './session-report.ts';
export type { CallReport, GroupReport, ProbeReport, RejectedReport, ToolReport } from './tool-report.ts';
