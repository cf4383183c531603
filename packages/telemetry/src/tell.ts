import { diag } from '@opentelemetry/api';

/**
 * Tells the process's log, by OpenTelemetry's `diag`. Never throws: the logger may be the application's, and one that is broken
 * must cost neither a scrape nor the process.
 */
export const tell = (level: 'error' | 'warn', message: string, ...details: readonly unknown[]): void => {
  try {
    diag[level](message, ...details);
  } catch {
    // The application's own logger threw, and there is nobody left to tell.
  }
};
