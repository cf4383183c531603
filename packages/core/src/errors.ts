/** One thing that is wrong with a configuration or a snapshot. */
export interface ConfigIssue {
  /** Where it stands, such as `tools.web_search.failureThreshold`. */
  readonly path: string;
  /** What is wrong, why that matters, and what to write instead. */
  readonly message: string;
}

/**
 * The configuration can't work, or the snapshot can't be restored. Thrown when the box is made, a tool declared, or a session
 * begun or restored, never later.
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
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], what = 'configuration') {
    const lines = issues.map(({ path, message }) => `  ${path}: ${message}`);
    super(`Breakerbox can't use this ${what}:\n${lines.join('\n')}`);
    this.issues = issues;
  }
}

/** A public function was called with something it can't take. The message says what, where, why and how to mend it. */
export class BreakerboxUsageError extends Error {
  override readonly name = 'BreakerboxUsageError';
  readonly code = 'BREAKERBOX_USAGE';
}
