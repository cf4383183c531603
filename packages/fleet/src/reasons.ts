/** Why the store does not answer. Telemetry shows these words, because the text of an error may have addresses or names. */
export type StoreReason =
  | 'timeout'
  | 'disconnected'
  | 'permission'
  | 'memory'
  | 'readonly'
  | 'loading'
  | 'cluster'
  | 'error';

/** The store did not answer. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreReason;

  constructor(reason: StoreReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** By a word in an error of Redis. */
const REASONS: Readonly<Record<string, StoreReason>> = {
  NOAUTH: 'permission',
  WRONGPASS: 'permission',
  NOPERM: 'permission',
  OOM: 'memory',
  READONLY: 'readonly',
  LOADING: 'loading',
  MASTERDOWN: 'readonly',
  MISCONF: 'readonly',
  NOREPLICAS: 'readonly',
  CLUSTERDOWN: 'cluster',
  MOVED: 'cluster',
};

/** What Redis says of a command of a script that the user may not run, or whose key the user may not use. */
const NOT_ALLOWED = /\bNOPERM\b|ACL failure|can't (?:run this command|access)|[Nn]o permissions/;

/** The command that the user may not run, in capitals. A name has only letters. */
const forbiddenCommand = ({ message }: Error): string | undefined =>
  NOT_ALLOWED.test(message)
    ? (/'([a-z|]+)' command|\(([A-Z]+)\)/.exec(message)?.slice(1).find(Boolean) ?? '').toUpperCase()
    : undefined;

/** Such as `WRONGPASS`: a word that Redis uses, wherever the error has it, or the first word, or the code of a network error. */
export const wordOf = (error: unknown): string => {
  if (!(error instanceof Error)) return '';
  if (NOT_ALLOWED.test(error.message)) return 'NOPERM';
  const known = error.message.match(/\b[A-Z]{3,}\b/g)?.find((word) => Object.hasOwn(REASONS, word));
  const [first = ''] = /^[A-Z]{3,}\b/.exec(error.message) ?? [];
  const { code } = error as { readonly code?: unknown };
  return known ?? (typeof code === 'string' && /^E[A-Z]+$/.test(code) ? code : first);
};

export const reasonOf = (error: unknown): StoreReason =>
  error instanceof StoreError ? error.reason : (REASONS[wordOf(error)] ?? 'error');

/** For a log. The text of an error of Redis or of a client may have addresses, names of users, or keys. */
export const withoutAddress = (error: unknown): Error => {
  if (error instanceof StoreError) return error;
  const reason = reasonOf(error);
  const command = error instanceof Error && forbiddenCommand(error);
  const missing = command
    ? ` The Redis user may not run ${command}. docs/fleet.md has all commands that it needs.`
    : '';
  const what = [reason, wordOf(error)].filter(Boolean).join(', ');
  return new StoreError(reason, `The store did not carry out a command: ${what}.${missing}`);
};
