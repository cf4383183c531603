export type { DataSource } from './adapt.ts';
export type { DashboardUid } from './links.ts';
export { type DashboardFile, type DashboardOptions, dashboards } from './own.ts';
