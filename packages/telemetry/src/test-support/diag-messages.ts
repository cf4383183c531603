import { DiagLogLevel, diag } from '@opentelemetry/api';

/** Collects what is reported through `diag`, at WARN and above. Call `diag.disable()` after the test. */
export function collectDiag(): string[] {
  const messages: string[] = [];
  const add = (message: string, ...rest: unknown[]): void => {
    messages.push([message, ...rest].map(String).join(' '));
  };
  diag.setLogger(
    { error: add, warn: add, info: add, debug: add, verbose: add },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return messages;
}
