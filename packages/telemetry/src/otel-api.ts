import * as api from '@opentelemetry/api';

/*
 * OpenTelemetry's API in the form that the SDK in this package expects, which is 1.10. The application may have 1.9. The two differ only in
 * the logs API, which 1.10 added. The build gives the SDK this module instead of the API.
 */

export * from '@opentelemetry/api';

const newer: Partial<typeof api> = api;

/** Whether the application's API has logs. Without it, log events are not sent. */
export const hasLogs = newer.logs !== undefined;

const NO_LOGS = {
  setGlobalLoggerProvider: (provider: unknown) => provider,
  getLoggerProvider: () => ({}),
  disable: () => {},
};

export const logs: typeof api.logs = newer.logs ?? (NO_LOGS as unknown as typeof api.logs);
export const SeverityNumber: typeof api.SeverityNumber = newer.SeverityNumber ?? ({} as typeof api.SeverityNumber);
export const createNoopLogger: typeof api.createNoopLogger =
  newer.createNoopLogger ?? (() => ({ emit: () => {}, enabled: () => false }));
