import { vi } from 'vitest';
import { type Watched, watchedSession } from './watched-session.ts';

/** A box whose sessions are known, and whether they have ended. */
export interface WatchedBox extends Watched {
  /** In the order in which they were made, without `session`. */
  readonly sessions: readonly Watched['session'][];
}

export const watchedBox = (config: Parameters<typeof watchedSession>[0] = {}): WatchedBox => {
  const watched = watchedSession(config);
  const sessions: Watched['session'][] = [];
  const session = () => {
    const made = watched.box.session();
    sessions.push(made);
    vi.spyOn(made, 'end');
    return made;
  };
  return { ...watched, box: { ...watched.box, session }, sessions };
};
