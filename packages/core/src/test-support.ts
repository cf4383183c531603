import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { type Mock, onTestFinished, vi } from 'vitest';
import type { Breakerbox } from './breakerbox.ts';
import { createBreakerbox } from './breakerbox.ts';
import type { ErrorCategory } from './classify/taxonomy.ts';
import type { Clock } from './clock.ts';
import type { BreakerboxConfig } from './config/config.ts';
import type { BreakerboxEvents } from './events.ts';
import type { Session } from './session-api.ts';

/** Time that passes only when a test says so. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export const UNIX_START = 1_700_000_000_000;

export const manualClock = (): ManualClock => {
  let ms = 1_000; // Not 0: a monotonic clock may start anywhere.
  return {
    now: () => ms,
    unixNow: () => UNIX_START + ms,
    advance: (by) => {
      ms += by;
    },
  };
};

export interface Bench {
  readonly box: Breakerbox;
  readonly clock: ManualClock;
  readonly session: Session;
}

/** A box with tools `a` to `d`, and a session of it. */
export const bench = (config: Partial<BreakerboxConfig> = {}): Bench => {
  const clock = manualClock();
  const box = createBreakerbox({ agent: 'tester', tools: { a: {}, b: {}, c: {}, d: {} }, clock, ...config });
  return { box, clock, session: box.session({ id: 'run-1' }) };
};

/** One call that fails; returns its decision. */
export const failOnce = (session: Session, tool: string, category: ErrorCategory = 'network', retryAfterMs = 0) => {
  const permit = session.acquire(tool);
  permit.settle({ outcome: 'failure', category, retryAfterMs });
  return permit.decision;
};

/** One call that succeeds; returns its decision. */
export const succeedOnce = (session: Session, tool: string) => {
  const permit = session.acquire(tool);
  permit.settle({ outcome: 'success' });
  return permit.decision;
};

/** Three failures: opens a circuit with default thresholds. */
export const trip = (session: Session, tool: string, category: ErrorCategory = 'network') => {
  for (let i = 0; i < 3; i += 1) failOnce(session, tool, category);
};

/** Ends this many steps of the agent loop. */
export const steps = (session: Session, count: number) => {
  for (let i = 0; i < count; i += 1) session.step();
};

/** Watches the errors that `diag` gets. */
export const watchDiag = (): Mock<() => void> => {
  const error = vi.fn<() => void>();
  const silent = () => {};
  const logger: DiagLogger = { error, warn: silent, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  return error;
};

/** All events of a box, as `name tool|…` lines. */
export const journal = (box: Breakerbox): string[] => {
  const lines: string[] = [];
  const names: (keyof BreakerboxEvents)[] = [
    'circuit.transition',
    'systemic.detected',
    'systemic.resolved',
    'budget.exhausted',
    'budget.resumed',
  ];
  box.on('circuit.transition', ({ tool, from, to }) => lines.push(`${tool} ${from}>${to}`));
  for (const name of names.slice(1)) box.on(name, () => lines.push(name));
  return lines;
};

/** Turns warnings on for the rest of a test, as in a new process. Returns the printed warnings, each with its code before it. */
export const watchWarnings = (): (() => readonly string[]) => {
  vi.stubEnv('BREAKERBOX_WARNINGS', '');
  const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  Reflect.deleteProperty(globalThis, Symbol.for('@breakerbox/core:warnings'));
  onTestFinished(() => {
    emit.mockRestore();
    vi.unstubAllEnvs();
  });
  const calls = emit.mock.calls as readonly unknown[][];
  const before = calls.length;
  return () => calls.slice(before).map(([text, options]) => `${(options as { readonly code: string }).code}: ${text}`);
};
