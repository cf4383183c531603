const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

/**
 * A JSON text as one line with a line feed. Line breaks become spaces and nothing else changes: in JSON they stand only between tokens,
 * because those in strings are escaped. Undefined if the text is neither an object nor a list.
 */
export const jsonLine = (json: Buffer): Buffer | undefined => {
  const line = Buffer.concat([json, Buffer.from('\n')]);
  for (let at = 0; at < json.length; at += 1) if (line[at] === LINE_FEED || line[at] === RETURN) line[at] = SPACE;
  return /^(?:\xEF\xBB\xBF)?\s*[{[]/.test(json.toString('latin1', 0, 1_000)) ? line : undefined;
};

/** The bytes of a line without its end. */
export const withoutLineEnd = (line: Buffer): Buffer => {
  let end = line.length;
  while (end > 0 && (line[end - 1] === LINE_FEED || line[end - 1] === RETURN)) end -= 1;
  return line.subarray(0, end);
};
