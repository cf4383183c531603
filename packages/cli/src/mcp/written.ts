import type { Writable } from 'node:stream';

/** Writes, and waits while the other side does not read. */
export const written = async (to: Writable, bytes: Buffer): Promise<void> => {
  if (!to.writable || to.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      to.off('drain', goOn);
      to.off('close', goOn);
      resolve();
    };
    to.once('drain', goOn);
    to.once('close', goOn);
  });
};
