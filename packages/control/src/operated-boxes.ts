import type { Breakerbox } from '@breakerbox/core';
import type { AgentModes } from './agent-modes.ts';
import type { Changes } from './changes.ts';
import { type Boxes, operated } from './state.ts';

/** The boxes that operators see, and how to add one. */
export interface OperatedBoxes extends Boxes {
  add(box: Breakerbox): void;
  /** Follows no box any longer. */
  close(): void;
}

/** A box, which the program may drop, and the versions that its operator had. */
interface Entry {
  readonly agent: string;
  readonly ref: WeakRef<Breakerbox>;
  first: number;
  seen: number;
}

/** Keeps no box in memory that the program has dropped. */
export const operatedBoxes = (changes: Changes, modes: AgentModes): OperatedBoxes => {
  const entries = new Map<string, Set<Entry>>();
  /** What dropped boxes have added to the versions. */
  const dropped = new Map<string, number>();
  const stops = new WeakMap<Breakerbox, () => void>();
  const gone = new FinalizationRegistry<Entry>((entry) => {
    entries.get(entry.agent)?.delete(entry);
    dropped.set(entry.agent, (dropped.get(entry.agent) ?? 0) + entry.seen - entry.first);
  });
  const of = (agent: string): Iterable<Entry> => entries.get(agent) ?? [];
  const live = (some: Iterable<Entry>): readonly Breakerbox[] => [...some].flatMap(({ ref }) => ref.deref() ?? []);
  const all = (): readonly Breakerbox[] => [...entries.values()].flatMap(live);
  return {
    add: (box) => {
      if (stops.has(box)) return;
      const one = operated(box); // Sessions are listed from their first use after this.
      stops.set(box, changes.follow(box));
      const entry: Entry = { agent: box.agent, ref: new WeakRef(box), first: 0, seen: 0 };
      entries.set(box.agent, (entries.get(box.agent) ?? new Set()).add(entry));
      gone.register(box, entry);
      try {
        modes.applyTo(one);
      } finally {
        entry.first = one.operator.version;
        entry.seen = entry.first;
      }
    },
    list: (agent) => (agent === undefined ? all() : live(of(agent))).map(operated),
    version: (agent) => {
      let sum = dropped.get(agent) ?? 0;
      for (const entry of of(agent)) {
        const box = entry.ref.deref();
        if (box !== undefined) entry.seen = operated(box).operator.version;
        sum += entry.seen - entry.first;
      }
      return sum;
    },
    close: () => {
      for (const box of all()) stops.get(box)?.();
      entries.clear();
    },
  };
};
