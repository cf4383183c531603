const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

/**
 * A JSON text as one line with a line feed. Line breaks become spaces and nothing else changes: in JSON they stand only between tokens,
 * because those in strings are escaped. Undefined if the text is neither an object nor a list.
 *
 * @param json Line breaks before its end are replaced in place. If the text ends with a line feed, it is not copied (M10).
 */
export const jsonLine = (json: Buffer): Buffer | undefined => {
  if (!/^(?:\xEF\xBB\xBF)?\s*[{[]/.test(json.toString('latin1', 0, 1_000))) return undefined;
  const { length } = withoutLineEnd(json);
  const end = json.indexOf(LINE_FEED, length);
  const line = end < 0 ? Buffer.concat([json.subarray(0, length), Buffer.from('\n')]) : json.subarray(0, end + 1);
  for (const byte of [LINE_FEED, RETURN])
    for (let at = line.indexOf(byte); at >= 0 && at < length; at = line.indexOf(byte, at + 1)) line[at] = SPACE;
  return line;
};

/** The bytes of a line without its end. */
export const withoutLineEnd = (line: Buffer): Buffer => {
  let end = line.length;
  while (end > 0 && (line[end - 1] === LINE_FEED || line[end - 1] === RETURN)) end -= 1;
  return line.subarray(0, end);
};
