/** Counts by name; names with a count of 0 are left out. */
export type Counts<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** Counts above 0, with what they count. */
export const entriesOf = <Name extends string>(
  counts: Counts<Name> | undefined,
): readonly (readonly [Name, number])[] =>
  Object.entries<number | undefined>(counts ?? {}).flatMap(([name, times = 0]) =>
    times > 0 ? [[name as Name, times]] : [],
  );

/** Counts above 0, on their own. */
export const countsOf = <Name extends string>(counts: Counts<Name> | undefined): Counts<Name> =>
  Object.fromEntries(entriesOf(counts)) as Counts<Name>;

/** Milliseconds in a report: whole, and never negative. */
export const millis = (ms: number): number => (Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0);
