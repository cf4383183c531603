import * as api from '@opentelemetry/api';

/*
 * OpenTelemetry's API as the SDK in this package wants it: that is 1.10, and the application may have 1.9. It differs in the logs API alone,
 * which came with 1.10. bundle-sdk.mjs gives the SDK this module in the place of the API.
 */

export * from '@opentelemetry/api';

const newer: Partial<typeof api> = api;

/** Whether the application's API has logs, so that log events go anywhere. */
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
