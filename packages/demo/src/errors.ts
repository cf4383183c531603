/** A fault that the user can fix. The message says how. Printed without a stack trace. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
  readonly code = 'BREAKERBOX_DEMO';
}
