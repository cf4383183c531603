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

/** The names that there are, the one first that was probably meant. */
export const nearestFirst = (written: string, names: readonly string[]): readonly string[] => {
  const rank = (name: string): number => distance(written.toLowerCase(), name.toLowerCase());
  return names.toSorted((a, b) => rank(a) - rank(b));
};
