import { shownLines, splitLines, withShownComments } from './shown-entry.ts';

/**
 * The lines of an entry that change, with - and +. Left out are values of headers, of the environment and of options with names of
 * secrets, and the users, passwords and queries of addresses.
 * @param head what is before the entry on its first line: white space and its name
 */
export const changedLines = (head: string, before: string, after: string): readonly string[] => {
  // Secrets may differ where the lines that are shown do not.
  const [old, made] = [splitLines(`${head}${before}`), splitLines(`${head}${after}`)];
  const most = Math.min(old.length, made.length);
  let first = 0;
  while (first < most && old[first] === made[first]) first += 1;
  let tail = 0;
  while (tail < most - first && old.at(-1 - tail) === made.at(-1 - tail)) tail += 1;
  const shown = (entry: string): readonly string[] => {
    const lines = shownLines(entry);
    const all = splitLines(`${withShownComments(head)}${lines.join('\n')}`);
    return all.slice(first, all.length - tail);
  };
  return [...shown(before).map((line) => `- ${line}`), ...shown(after).map((line) => `+ ${line}`)];
};
