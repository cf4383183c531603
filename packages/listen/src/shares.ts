/** Counts what each client has, such as streams. */
export interface Shares {
  /** Takes one for a client, and returns how to give it back. Undefined if the client has its share already. */
  take(client: string): (() => void) | undefined;
}

/** At most so many for each client. */
export const createShares = (most: number): Shares => {
  const taken = new Map<string, number>();
  const change = (client: string, by: number): void => {
    const count = (taken.get(client) ?? 0) + by;
    if (count > 0) taken.set(client, count);
    else taken.delete(client);
  };
  return {
    take: (client) => {
      if ((taken.get(client) ?? 0) >= most) return undefined;
      change(client, 1);
      let isTaken = true;
      return () => {
        if (isTaken) change(client, -1);
        isTaken = false;
      };
    },
  };
};
