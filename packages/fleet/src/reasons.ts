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

/** By the first word of an error of Redis. */
const REASONS: Readonly<Record<string, StoreReason>> = {
  NOAUTH: 'permission',
  WRONGPASS: 'permission',
  NOPERM: 'permission',
  OOM: 'memory',
  READONLY: 'readonly',
  LOADING: 'loading',
  MASTERDOWN: 'readonly',
  CLUSTERDOWN: 'cluster',
  MOVED: 'cluster',
};

export const reasonOf = (error: unknown): StoreReason => {
  if (error instanceof StoreError) return error.reason;
  const [word = ''] = /\b[A-Z]{3,}\b/.exec(error instanceof Error ? error.message : '') ?? [];
  return REASONS[word] ?? 'error';
};
