/**
 * A document with a new text between its markers, `<!-- name:begin -->` and `<!-- name:end -->`.
 *
 * @param file The document's path in the repository, for the error.
 * @throws Error if a marker is missing, or if the end comes first.
 */
export const withMarked = (document: string, name: string, text: string, file: string): string => {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from === -1 || to < from)
    throw new Error(`${file} has no ${begin} with a ${end} after it. Put both markers where the text belongs.`);
  return `${document.slice(0, from)}${begin}\n${text}\n${document.slice(to)}`;
};
