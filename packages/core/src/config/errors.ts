import { shortened } from './names.ts';

/** One fault in a configuration or a snapshot. */
export interface ConfigIssue {
  /** The path of the fault, such as `tools.web_search.failureThreshold`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

/**
 * The configuration can't work, or the snapshot can't be restored. Lists all faults of a
 * configuration, up to 100, and the first ten of a snapshot. Thrown when a box is created, a
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
  /** The first 100; of a snapshot, the first ten. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], what = 'configuration', most = MOST_ISSUES) {
    const shown = issues.slice(0, most).map(({ path, message }) => ({ path: brief(path), message }));
    const lines = shown.map(({ path, message }) => `  ${path}: ${message}`);
    const more = issues.length - shown.length;
    const atLeast = issues.length > MOST_ISSUES ? 'at least ' : '';
    if (more > 0) lines.push(`  … and ${atLeast}${more} more. Fix these first.`);
    super(`Breakerbox can't use this ${what}:\n${lines.join('\n')}`);
    this.issues = shown;
  }
}

/** Issues in one error. A malicious file may have millions, and their text would fill the memory. */
export const MOST_ISSUES = 100;

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
