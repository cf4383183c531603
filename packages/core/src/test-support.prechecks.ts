import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { vi } from 'vitest';
import { type Availability, createPrecheckCache, type Precheck, type PrecheckCache } from './precheck.ts';

/** Collects the errors that `diag` gets, until `diag.disable()`. */
export const listenToDiag = (): (() => readonly string[]) => {
  const error = vi.fn<DiagLogger['error']>();
  const ignore = (): void => {};
  const logger: DiagLogger = { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  return () => error.mock.calls.map(([what, thrown]) => `${what} ${thrown}`);
};

/** A cache with scores of at most 100 ms and checks of at most 40 ms, and the scores that it reported. */
export const cache = (
  options: { maxAgeMs?: number; timeoutMs?: number } = {},
): PrecheckCache & { readonly scores: readonly string[] } => {
  const scores: string[] = [];
  const made = createPrecheckCache({
    maxAgeMs: 100,
    timeoutMs: 40,
    ...options,
    onScore: (tool, availability) => scores.push(`${tool}: ${availability}`),
  });
  return { ...made, scores };
};

/** A check that answers when the test says so, separately for each of its runs. */
export const slowCheck = () => {
  const answers: { resolve: (answer: Availability) => void; reject: (error: unknown) => void }[] = [];
  const check = vi.fn<Precheck>(() => new Promise((resolve, reject) => answers.push({ resolve, reject })));
  return {
    check,
    answer: async (run: number, answer: Availability) => {
      answers[run]?.resolve(answer);
      await microtasks();
    },
    refuse: async (run: number, error: unknown) => {
      answers[run]?.reject(error);
      await microtasks();
    },
  };
};

/** Waits until all due promise callbacks have run. */
export const microtasks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const fails = (message: string): never => {
  throw new Error(message);
};
