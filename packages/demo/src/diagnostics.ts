import { inspect } from 'node:util';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';

const QUIET_MS = 10_000;
const LONGEST = 300;
/** Most kinds of lines that are remembered, so that memory is bounded. */
const KINDS = 100;

/**
 * Prints OpenTelemetry's warnings and errors as one short line each, and similar lines only every 10 s. Otherwise a collector that is
 * down would fill the terminal with stacks. With `OTEL_LOG_LEVEL` this changes nothing, and OpenTelemetry logs everything.
 */
export const printDiagnostics = (print: (line: string) => void, env: NodeJS.ProcessEnv): void => {
  if (env.OTEL_LOG_LEVEL?.trim()) return;
  // startTelemetry() keeps a logger that is already set.
  diag.setLogger(lineLogger(print), DiagLogLevel.WARN);
};

/** A logger that passes on single lines. @param now Milliseconds of a monotonic clock. */
export const lineLogger = (print: (line: string) => void, now: () => number = () => performance.now()): DiagLogger => {
  const kinds = new Map<string, { readonly printedAt: number; held: number }>();
  const log = (...args: readonly unknown[]): void => {
    const line = diagnosticLine(args);
    // A line that differs only in a port, a size or a time is similar.
    const kind = line.replace(/\d+/g, '#');
    const at = now();
    const last = kinds.get(kind);
    if (last !== undefined && at - last.printedAt < QUIET_MS) {
      last.held += 1;
      return;
    }
    kinds.delete(kind);
    kinds.set(kind, { printedAt: at, held: 0 });
    const [oldest] = kinds.keys();
    if (kinds.size > KINDS && oldest !== undefined) kinds.delete(oldest);
    print(last?.held ? `${line} (and ${last.held} more like it since the last such line)` : line);
  };
  return { error: log, warn: log, info: log, debug: log, verbose: log };
};

/** A log entry of OpenTelemetry, on one line and without stacks. */
export const diagnosticLine = (args: readonly unknown[]): string => {
  const line = args
    .map(words)
    .filter((text) => text !== '')
    .join(': ')
    .replace(/^Breakerbox telemetry: /, '');
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
};

const words = (value: unknown): string => {
  if (typeof value === 'string') return oneLine(parsed(value) ?? value);
  return oneLine(value);
};

/** OpenTelemetry's handler of export errors logs them as JSON, with their stacks. */
const parsed = (text: string): unknown => {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const oneLine = (value: unknown): string =>
  (typeof value === 'string' ? value : described(value)).replace(/\s+/g, ' ').trim();

const described = (value: unknown): string => {
  const { message, code, name } = (value ?? {}) as { message?: unknown; code?: unknown; name?: unknown };
  // The error of a name with two addresses (localhost) has a code and no message.
  const said = [message, code, name].find((part) => typeof part === 'string' && part !== '');
  if (typeof said !== 'string') return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 2 });
  const isKnown = said !== message || typeof code !== 'string' || code === '' || said.includes(code);
  return isKnown ? said : `${said} (${code})`;
};
