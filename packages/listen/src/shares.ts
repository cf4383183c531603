/** Counts what each client has, such as streams. */
export interface Shares {
  /**
   * Takes one for a client, and returns how to give it back. Undefined if the client has its share already, or if all are taken and no
   * client has two more than this one. `end` ends it, so that a client with fewer gets one.
   */
  take(client: string, end: () => void): (() => void) | undefined;
}

interface Taken {
  readonly client: string;
  readonly end: () => void;
}

/** At most so many for each client, and so many for all of them. */
export const createShares = (most: number, mostInAll: number): Shares => {
  const taken = new Set<Taken>();
  const countOf = (client: string): number => [...taken].filter((one) => one.client === client).length;
  const givingWay = (own: number): Taken | undefined => {
    const largest = Math.max(...[...taken].map(({ client }) => countOf(client)));
    return largest > own + 1 ? [...taken].find(({ client }) => countOf(client) === largest) : undefined;
  };
  return {
    take: (client, end) => {
      const own = countOf(client);
      if (own >= most) return undefined;
      if (taken.size >= mostInAll) {
        const victim = givingWay(own);
        if (victim === undefined) return undefined;
        taken.delete(victim);
        victim.end();
      }
      const one = { client, end };
      taken.add(one);
      return () => void taken.delete(one);
    },
  };
};
