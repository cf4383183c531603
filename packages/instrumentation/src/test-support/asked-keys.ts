import { vi } from 'vitest';
import { watchedSession } from './watched-session.ts';

/** A session, and the keys that it was asked with (C14). */
export const askedKeys = () => {
  const watched = watchedSession();
  const { session } = watched;
  const keys: unknown[] = [];
  const acquire = session.acquire.bind(session);
  vi.spyOn(session, 'acquire').mockImplementation((tool, options) => {
    keys.push(options?.key);
    return acquire(tool, options);
  });
  return { ...watched, keys };
};
