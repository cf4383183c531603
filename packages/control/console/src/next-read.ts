/** When something is read again, one read after the other. */
export interface NextRead {
  /** In so many milliseconds, or sooner if it is due already: what happens without a pause would put it off for ever. */
  within(ms: number): void;
  stop(): void;
}

/** `read` never rejects. */
export const nextRead = (read: () => Promise<void>): NextRead => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueMs = Number.POSITIVE_INFINITY;
  let isReading = false;
  const arm = (): void => {
    clearTimeout(timer);
    if (!isReading && dueMs < Number.POSITIVE_INFINITY) timer = setTimeout(run, Math.max(0, dueMs - performance.now()));
  };
  const run = async (): Promise<void> => {
    dueMs = Number.POSITIVE_INFINITY;
    isReading = true;
    await read();
    isReading = false;
    arm();
  };
  return {
    within: (ms) => {
      const atMs = performance.now() + ms;
      if (atMs >= dueMs) return;
      dueMs = atMs;
      arm();
    },
    stop: () => {
      dueMs = Number.POSITIVE_INFINITY;
      arm();
    },
  };
};
