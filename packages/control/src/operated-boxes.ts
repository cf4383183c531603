import type { Breakerbox } from '@breakerbox/core';
import type { Changes } from './changes.ts';
import { type OperatedBox, operated } from './state.ts';

/** The boxes that operators see. */
export interface OperatedBoxes {
  add(box: Breakerbox): void;
  list(): readonly OperatedBox[];
  /** Follows no box any longer. */
  close(): void;
}

/** Keeps no box in memory that the program has dropped. */
export const operatedBoxes = (changes: Changes): OperatedBoxes => {
  const refs = new Set<WeakRef<Breakerbox>>();
  const gone = new FinalizationRegistry<WeakRef<Breakerbox>>((ref) => refs.delete(ref));
  const offs = new WeakMap<Breakerbox, () => void>();
  const live = (): readonly Breakerbox[] => [...refs].flatMap((ref) => ref.deref() ?? []);
  return {
    add: (box) => {
      if (offs.has(box)) return;
      operated(box); // Sessions are listed from their first use after this.
      offs.set(box, changes.follow(box));
      const ref = new WeakRef(box);
      refs.add(ref);
      gone.register(box, ref);
    },
    list: () => live().map(operated),
    close: () => {
      for (const box of live()) offs.get(box)?.();
      refs.clear();
    },
  };
};
