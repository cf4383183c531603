/**
 * A document with this between its markers, `<!-- name:begin -->` and `<!-- name:end -->`, in place of what stood there.
 *
 * @param file The document's path in the repository, for the error.
 * @throws Error where it lacks one of them, or has the end first.
 */
export const withMarked = (document: string, name: string, text: string, file: string): string => {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from === -1 || to < from)
    throw new Error(`${file} has no ${begin} with a ${end} after it. Put them where the text is to stand.`);
  return `${document.slice(0, from)}${begin}\n${text}\n${document.slice(to)}`;
};
