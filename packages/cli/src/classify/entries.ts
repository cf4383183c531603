/** One value to classify, as a tool threw or returned it. */
export interface Entry {
  /** The text that the output shows. */
  readonly text: string;
  readonly thrown: boolean;
  readonly value: unknown;
  readonly tool?: string;
  readonly input?: unknown;
}

export interface EntryOptions {
  /** The texts were thrown; otherwise a tool returned them as errors. */
  readonly thrown: boolean;
  /** The whole file is one text; otherwise each line is one. */
  readonly whole: boolean;
}

/** The entries of a file: texts, one JSON value, a JSON array, or JSONL. */
export const entriesOf = (content: string, options: EntryOptions): readonly Entry[] => {
  const json = parsed(content);
  if (json !== undefined)
    return (Array.isArray(json.value) ? json.value : [json.value]).map((one) => entryOf(one, options));
  const lines = content.split(/\r?\n/).filter((line) => line.trim() !== '');
  const rows = lines.map(parsed);
  if (rows.length > 0 && rows.every((row) => isObject(row?.value)))
    return rows.map((row) => entryOf(row?.value, options));
  return (options.whole ? [content.trim()].filter((text) => text !== '') : lines).map((text) => entryOf(text, options));
};

const entryOf = (value: unknown, { thrown }: EntryOptions): Entry => {
  if (!isObject(value)) return textEntry(String(value), thrown ? undefined : true);
  const { text, tool, input, isError, error, result, jsonrpc } = value;
  const about = { ...(typeof tool === 'string' && { tool }), ...(input !== undefined && { input }) };
  if (typeof text === 'string')
    return { ...textEntry(text, typeof isError === 'boolean' ? isError : thrown ? undefined : true), ...about };
  if (result !== undefined) return { text: shown(result), thrown: false, value: result, ...about };
  if (typeof error === 'string' && tool !== undefined)
    return { text: error, thrown: false, value: { error }, ...about };
  // JSON-RPC messages, and rows that say what was thrown.
  if (isObject(error) && (jsonrpc !== undefined || tool !== undefined))
    return { text: shown(error), thrown: true, value: thrownOf(error), ...about };
  const returned = error !== undefined || 'content' in value || isError !== undefined;
  const isThrown = !returned && looksThrown(value);
  return { text: shown(value), thrown: isThrown, value: isThrown ? thrownOf(value) : value, ...about };
};

/** An error and not a result, which may have a message or a status too. */
const looksThrown = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value.message === 'string' &&
  (/(?:Error|Exception)$/.test(String(value.name)) || ['stack', 'cause', 'errno'].some((key) => key in value));

const textEntry = (text: string, isError: boolean | undefined): Entry =>
  isError === undefined
    ? { text, thrown: true, value: new Error(text) }
    : { text, thrown: false, value: { isError, content: [{ type: 'text', text }] } };

/** An error with its fields, as it was before it was written as JSON. */
const thrownOf = (fields: Readonly<Record<string, unknown>>): Error => Object.assign(new Error(), fields);

const shown = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { message } = isObject(value) ? value : {};
  return typeof message === 'string' ? message : JSON.stringify(value);
};

const parsed = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
