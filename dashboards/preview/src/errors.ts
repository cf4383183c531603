/** An error that the caller of the command can fix. Its message says how. */
export class PreviewError extends Error {
  override readonly name = 'PreviewError';
}
