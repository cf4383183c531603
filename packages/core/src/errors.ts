import { shortened } from './names.ts';

/** One thing that is wrong with a configuration or a snapshot. */
export interface ConfigIssue {
  /** Where it stands, such as `tools.web_search.failureThreshold`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

/**
 * The configuration can't work, or the snapshot can't be restored: all that is wrong, up to 100 faults. Thrown when the box is made,
 * a tool declared, or a session begun or restored, never later.
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

/** Issues in one error: a file that somebody made to do harm has millions, and their text would fill the memory. */
export const MOST_TOLD = 100;

/** Keys of a file stand in paths, and may be a book. What matters is where a path begins, and how it ends. */
const brief = (path: string): string =>
  path.length > 200 ? `${shortened(path, 130)}${path.slice(-60).replace(/^[\uDC00-\uDFFF]/, '')}` : path;

/** A public function was called with something it can't take. The message says what, where, why and how to mend it. */
export class BreakerboxUsageError extends Error {
  override readonly name = 'BreakerboxUsageError';
  readonly code = 'BREAKERBOX_USAGE';
}
