import { DiagLogLevel, diag } from '@opentelemetry/api';

/** What goes to OpenTelemetry's `diag` from now on. `diag.disable()` belongs after the test. */
export const listenToDiag = (): readonly (readonly unknown[])[] => {
  const heard: unknown[][] = [];
  const ignore = (): void => {};
  const error = (...said: unknown[]): void => void heard.push(said);
  diag.setLogger(
    { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  return heard;
};
