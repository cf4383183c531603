import { serveOnLoopback } from '@breakerbox/scripted-models/loopback';

/** A proxy between a program and the API of its model that checks something before it passes on each request. */
export interface Gate {
  readonly url: string;
  stop(): Promise<void>;
}

/** `look` is waited for: meanwhile the program waits for its model, and is all there to be looked at. */
export const openGate = async (target: string, look: () => Promise<void>): Promise<Gate> => {
  const { origin, pathname } = new URL(target);
  const { url, stop } = await serveOnLoopback(async ({ path, body }) => {
    await look();
    return fetch(`${origin}${path}`, body === '' ? {} : { method: 'POST', body });
  });
  return { url: `${url}${pathname === '/' ? '' : pathname}`, stop };
};
