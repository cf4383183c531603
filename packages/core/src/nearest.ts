/** Names of settings are shorter. A key of a file may be very long. */
const LONGEST = 60;

/** Number of letters to insert, delete or change to turn one string into the other. */
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

/** The existing names, with the one that was probably meant first. */
export const nearestFirst = (written: string, names: readonly string[]): readonly string[] =>
  ranked(written, names).map(({ name }) => name);

/** The name that was probably meant, if two of three letters match. */
export const meant = (written: string, names: readonly string[]): string | undefined => {
  const [first] = ranked(written, names);
  return first !== undefined && first.faults <= first.name.length / 3 ? first.name : undefined;
};

const compact = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Whether one name is the other with a server or module before it, as in `mcp__github__search` and `github.search`. */
const isQualified = (long: string, short: string): boolean =>
  long.endsWith(short) && /(?:__|[.:/])$/.test(long.slice(0, -short.length));

/**
 * Whether one name is surely the other, written differently: other capitals and separators, a prefix, or one letter wrong, missing
 * or swapped with the next in a word of five or more. Names of different tools are often as close as `read_file` and `read_files`,
 * `get_user` and `set_user`, `search_v1` and `search_v2`: these are not slips.
 */
export const isSlip = (one: string, other: string): boolean => {
  if (one.length > LONGEST || other.length > LONGEST || one === other) return false;
  if (compact(one) === compact(other) && compact(one) !== '') return true;
  if (isQualified(one, other) || isQualified(other, one)) return true;
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  const isChanged = left.length <= 1 && right.length <= 1;
  const isSwapped = left.length === 2 && right === `${left[1]}${left[0]}`;
  if (!(isChanged || isSwapped) || !/^\p{Ll}*$/u.test(left + right)) return false;
  const before = /\p{Ll}+$/u.exec(one.slice(0, start))?.[0] ?? '';
  const behind = /^\p{Ll}+/u.exec(one.slice(one.length - end))?.[0] ?? '';
  return before !== '' && behind !== '' && before.length + behind.length >= 4;
};
