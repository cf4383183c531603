import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConsoleChange, ConsoleState } from '../../src/console/console-state.ts';
import { now, setClock } from './clock.ts';
import { keepChanges } from './kept-changes.ts';
import { nextRead } from './next-read.ts';
import { readState, SignedOut, signIn } from './server-api.ts';

/** What the page shows. */
export interface ConsoleView {
  /** Undefined until the first answer. */
  readonly state: ConsoleState | undefined;
  /** Changes of the last hour, the newest first. */
  readonly changes: readonly ConsoleChange[];
  /** Why the browser is not signed in. */
  readonly signedOut: string | undefined;
  /** Why `state` is old. */
  readonly lost: string | undefined;
  /** Reads the state now. */
  refresh(): Promise<void>;
}

const POLL_MS = 3_000;
const HIDDEN_POLL_MS = 30_000;
/** Changes that come together are shown together. */
const SETTLE_MS = 200;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Polls the state, and at once when a change is told. */
export const useConsole = (): ConsoleView => {
  const [state, setState] = useState<ConsoleState>();
  const [changes, setChanges] = useState<readonly ConsoleChange[]>([]);
  const [signedOut, setSignedOut] = useState<string>();
  const [lost, setLost] = useState<string>();
  const refresh = useRef<() => Promise<void>>(() => Promise.resolve());

  useEffect(() => {
    const kept = keepChanges(now);
    let source: EventSource | undefined;
    let ended = false;
    let failedLink: unknown;
    let last: Promise<void> = Promise.resolve();

    /** One after the other. */
    const read = (): Promise<void> => {
      last = last.then(readOnce);
      return last;
    };
    const next = nextRead(read);

    const readOnce = async (): Promise<void> => {
      try {
        const answer = await readState();
        setClock(answer.unixMs);
        setState(answer);
        setLost(undefined);
        setChanges(kept.newest());
      } catch (error) {
        if (error instanceof SignedOut) end(failedLink ?? error);
        else setLost(messageOf(error));
      }
      if (!ended) next.within(document.hidden ? HIDDEN_POLL_MS : POLL_MS);
    };

    const listen = (): void => {
      source = new EventSource('api/changes');
      source.addEventListener('change', ({ data }: MessageEvent<string>) => {
        kept.add(data);
        next.within(SETTLE_MS);
      });
    };

    const end = (error: unknown): void => {
      ended = true;
      source?.close();
      next.stop();
      setSignedOut(messageOf(error));
    };

    const onVisible = (): void => {
      if (!document.hidden && !ended) next.within(0);
    };

    /** A new link in the same tab loads no page. */
    const onLink = (): void => {
      if (new URLSearchParams(location.hash.slice(1)).has('token')) location.reload();
    };

    refresh.current = read;
    document.addEventListener('visibilitychange', onVisible);
    addEventListener('hashchange', onLink);
    signIn()
      .catch((error: unknown) => {
        failedLink = error; // The browser may be signed in by an earlier link.
      })
      .then(read)
      .then(() => ended || listen());
    return () => {
      ended = true;
      source?.close();
      next.stop();
      removeEventListener('hashchange', onLink);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, []);

  return { state, changes, signedOut, lost, refresh: () => refresh.current() };
};
