import type { ConsoleChange } from '../../src/console/console-state.ts';

const HOUR_MS = 3_600_000;
/** Changes that are kept, of all endpoints together. A page that is open for a day, or an endpoint that tells of thousands, needs no more. */
const MOST = 1_000;

/** The changes of the last hour. */
export interface KeptChanges {
  /** A change as the console sent it. Sent again, it is known already. */
  add(data: string): void;
  /** The newest first. */
  newest(): readonly ConsoleChange[];
}

/** If there are too many, the endpoint that has most loses its oldest one. So no endpoint hides the changes of others. */
export const keepChanges = (now: () => number): KeptChanges => {
  const byEndpoint = new Map<string, Map<string, ConsoleChange>>();
  let size = 0;

  const drop = (from: Map<string, ConsoleChange>, data: string): void => {
    if (from.delete(data)) size -= 1;
  };
  const dropOne = (): void => {
    const most = [...byEndpoint.values()].reduce((a, b) => (b.size > a.size ? b : a));
    const [oldest = ''] = most.keys();
    drop(most, oldest);
  };
  const dropOld = (): void => {
    for (const [endpoint, of] of byEndpoint) {
      for (const [data, { unixMs }] of of) if (now() - unixMs > HOUR_MS) drop(of, data);
      if (of.size === 0) byEndpoint.delete(endpoint);
    }
  };
  return {
    add: (data) => {
      const change = JSON.parse(data) as ConsoleChange;
      const of = byEndpoint.get(change.endpoint) ?? new Map<string, ConsoleChange>();
      if (of.has(data)) return;
      byEndpoint.set(change.endpoint, of.set(data, change));
      size += 1;
      if (size > MOST) dropOne();
    },
    newest: () => {
      dropOld();
      return [...byEndpoint.values()].flatMap((of) => [...of.values()]).toSorted((a, b) => b.unixMs - a.unixMs);
    },
  };
};
