/** The clock of the console: that of the browser may differ. */
let aheadMs = 0;

/** Sets the clock by an answer of the console. */
export const setClock = (unixMs: number): void => {
  aheadMs = unixMs - Date.now();
};

/** Unix milliseconds. */
export const now = (): number => Date.now() + aheadMs;
