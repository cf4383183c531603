/** Names of settings are shorter. A key of a file may be a book. */
const LONGEST = 60;

/** How many letters must be put in, left out or changed to make one text of the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, against] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const ranked = (written: string, names: readonly string[]) => {
  const text = written.slice(0, LONGEST).toLowerCase();
  return names
    .map((name) => ({ name, faults: distance(text, name.toLowerCase()) }))
    .toSorted((a, b) => a.faults - b.faults);
};

/** The names that there are, the one first that was probably meant. */
export const nearestFirst = (written: string, names: readonly string[]): readonly string[] =>
  ranked(written, names).map(({ name }) => name);

/** The one that was meant, if it is no guess: of three letters two are right. */
export const meant = (written: string, names: readonly string[]): string | undefined => {
  const [first] = ranked(written, names);
  return first !== undefined && first.faults <= first.name.length / 3 ? first.name : undefined;
};
