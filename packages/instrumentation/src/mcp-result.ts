import { describeFreshness, type FreshnessLabel, labelled } from '@breakerbox/core';
import { isContent, isPlain } from '@breakerbox/core/internal';
import { readable } from './readable.ts';

/** Under which the label of a result stands in its `_meta`, for programs. */
const LABEL_KEY = 'breakerbox/freshness';

/** Core's `labelled`, for the model, and the same words in the result's `_meta`: its structured content has a schema to keep. */
export const labelledResult: typeof labelled = (result: unknown, label: FreshnessLabel): unknown => {
  const made = labelled(result, label);
  if (!isPlain(made)) return made;
  return { ...made, _meta: { ...(isPlain(made._meta) && made._meta), [LABEL_KEY]: describeFreshness(label) } };
};

/** Of a last good result: what is meant for programs is left out, for they would read it as a new one (F2). */
export const staleResult: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  labelledResult(unstructured(result), label);

/**
 * A result without what is meant for programs: of an alternative they would read it by the schema of the tool that they
 * called. Servers give the same as text; where one didn't, it is put there.
 */
export const unstructured = (result: unknown): unknown => {
  if (!isPlain(result) || result.structuredContent === undefined) return result;
  const { structuredContent, ...rest } = result;
  const content = isContent(rest.content) ? rest.content : [];
  const json = JSON.stringify(structuredContent);
  if (content.some(({ text }) => says(text, json))) return rest;
  return { ...rest, content: [...content, { type: 'text', text: json }] };
};

/** Revision 2026-07-28 of the protocol: the server asks for something before it goes on, and the caller answers it by himself. */
export const waitsForInput = (result: unknown): boolean =>
  readable(() => isPlain(result) && result.resultType === 'input_required') === true;

/** What the model reads in place of a result. */
export const refusalOf = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });

/** However it is indented. */
const says = (text: unknown, json: string): boolean => {
  try {
    return typeof text === 'string' && JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
};
