import { diag } from '@opentelemetry/api';

/**
 * Writes to the log of the process through OpenTelemetry's `diag`. Never throws: the logger may be the application's, and a
 * broken logger must cost neither a scrape nor the process.
 */
export const log = (level: 'error' | 'warn', message: string, ...details: readonly unknown[]): void => {
  try {
    diag[level](message, ...details);
  } catch {
    // The application's own logger threw, and there is no other log.
  }
};
