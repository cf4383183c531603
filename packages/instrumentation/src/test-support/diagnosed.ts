import { DiagLogLevel, diag } from '@opentelemetry/api';

/** What goes to OpenTelemetry's `diag` from now on, errors unless told otherwise. `diag.disable()` belongs after the test. */
export const listenToDiag = (logLevel = DiagLogLevel.ERROR): readonly (readonly unknown[])[] => {
  const heard: unknown[][] = [];
  const hear = (...said: unknown[]): void => void heard.push(said);
  diag.setLogger(
    { error: hear, warn: hear, info: hear, debug: hear, verbose: hear },
    { logLevel, suppressOverrideMessage: true },
  );
  return heard;
};
