import { shortened } from './names.ts';

/** One fault in a configuration or a snapshot. */
export interface ConfigIssue {
  /** The path of the fault, such as `tools.web_search.failureThreshold`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

/**
 * The configuration can't work, or the snapshot can't be restored. Lists all faults, up to 100. Thrown when a box is created, a
 * tool is declared, or a session begins or is restored, never later.
 *
 * @example
 * ```ts
 * try {
 *   createBreakerbox({ agent: 'a', tools: { search: { failureThreshold: 0 } } });
 * } catch (error) {
 *   if (error instanceof BreakerboxConfigError) for (const { path, message } of error.issues) report(path, message);
 * }
 * ```
 */
export class BreakerboxConfigError extends Error {
  override readonly name = 'BreakerboxConfigError';
  readonly code = 'BREAKERBOX_CONFIG';
  /** The first 100. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], what = 'configuration') {
    const told = issues.slice(0, MOST_TOLD).map(({ path, message }) => ({ path: brief(path), message }));
    const lines = told.map(({ path, message }) => `  ${path}: ${message}`);
    if (issues.length > told.length) lines.push('  … and more. Mend these first.');
    super(`Breakerbox can't use this ${what}:\n${lines.join('\n')}`);
    this.issues = told;
  }
}

/** Issues in one error. A malicious file may have millions, and their text would fill the memory. */
export const MOST_TOLD = 100;

/** Keys of a file are part of paths and may be very long. The beginning and the end of a path matter most. */
const brief = (path: string): string =>
  path.length > 200 ? `${shortened(path, 130)}${path.slice(-60).replace(/^[\uDC00-\uDFFF]/, '')}` : path;

/**
 * A public function was called with an argument that it can't accept. The message says what is wrong, where, why, and how to fix
 * it.
 */
export class BreakerboxUsageError extends Error {
  override readonly name = 'BreakerboxUsageError';
  readonly code = 'BREAKERBOX_USAGE';
}
