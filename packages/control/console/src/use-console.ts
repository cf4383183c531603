import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConsoleChange, ConsoleState } from '../../src/console/console-state.ts';
import { now, setClock } from './clock.ts';
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
const HOUR_MS = 3_600_000;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Polls the state, and at once when a change is told. */
export const useConsole = (): ConsoleView => {
  const [state, setState] = useState<ConsoleState>();
  const [changes, setChanges] = useState<readonly ConsoleChange[]>([]);
  const [signedOut, setSignedOut] = useState<string>();
  const [lost, setLost] = useState<string>();
  const refresh = useRef<() => Promise<void>>(() => Promise.resolve());

  useEffect(() => {
    const known = new Map<string, ConsoleChange>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource | undefined;
    let ended = false;
    let failedLink: unknown;
    let last: Promise<void> = Promise.resolve();

    const showChanges = (): void => {
      for (const [key, { unixMs }] of known) if (now() - unixMs > HOUR_MS) known.delete(key);
      setChanges([...known.values()].toSorted((a, b) => b.unixMs - a.unixMs));
    };

    const next = (ms: number): void => {
      clearTimeout(timer);
      if (!ended) timer = setTimeout(read, ms);
    };

    /** One after the other. */
    const read = (): Promise<void> => {
      last = last.then(readOnce);
      return last;
    };

    const readOnce = async (): Promise<void> => {
      try {
        const answer = await readState();
        setClock(answer.unixMs);
        setState(answer);
        setLost(undefined);
        showChanges();
      } catch (error) {
        if (error instanceof SignedOut) end(failedLink ?? error);
        else setLost(messageOf(error));
      }
      next(document.hidden ? HIDDEN_POLL_MS : POLL_MS);
    };

    const listen = (): void => {
      source = new EventSource('api/changes');
      source.addEventListener('change', ({ data }: MessageEvent<string>) => {
        known.set(data, JSON.parse(data) as ConsoleChange);
        next(SETTLE_MS);
      });
    };

    const end = (error: unknown): void => {
      ended = true;
      source?.close();
      clearTimeout(timer);
      setSignedOut(messageOf(error));
    };

    const onVisible = (): void => {
      if (!document.hidden) next(0);
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
      clearTimeout(timer);
      removeEventListener('hashchange', onLink);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, []);

  return { state, changes, signedOut, lost, refresh: () => refresh.current() };
};
