/** Something that the person who typed the command can mend; the message says how. Printed without a stack trace. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
  readonly code = 'BREAKERBOX_DEMO';
}
