/** Something that whoever called the command can mend; its message says how. */
export class PreviewError extends Error {
  override readonly name = 'PreviewError';
}
