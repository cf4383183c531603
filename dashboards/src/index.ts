export type { DashboardUid } from './links.ts';
export { type DashboardFile, type DashboardOptions, dashboards } from './own.ts';
export type { DataSource } from './variables.ts';
