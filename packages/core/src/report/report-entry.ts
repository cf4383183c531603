/** The state of a session, as data and as text. */

export {
  formatPauseReport,
  formatPlanReport,
  formatReport,
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
  PlanReport,
  SessionReport,
  SystemicReport,
  WindowReport,
} from './session-report.ts';
export type { CallReport, GroupReport, ProbeReport, RejectedReport, ToolReport } from './tool-report.ts';
