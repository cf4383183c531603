import { describeFreshness, type FreshnessLabel, labelled } from '@breakerbox/core';
import { isContent, isPlain, written } from '@breakerbox/core/internal';
import { orUndefined } from '../untrusted.ts';

/** Key of a result's label in its `_meta`, for programs. */
const LABEL_KEY = 'breakerbox/freshness';

/** Core's `labelled`, for the model, and the label in the result's `_meta`: its structured content has to match a schema. */
export const labelledResult: typeof labelled = (result: unknown, label: FreshnessLabel): unknown => {
  const made = labelled(result, label);
  if (!isPlain(made)) return made;
  return { ...made, _meta: { ...(isPlain(made._meta) && made._meta), [LABEL_KEY]: describeFreshness(label) } };
};

/** A last good result with its label. The part for programs is left out, because they would read it as a new result (F2). */
export const staleResult: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  labelledResult(unstructured(result), label);

/**
 * A result without the part for programs. They would read an alternative's result by the schema of the tool that they called. Servers
 * give the same data as text; where one does not, it is added as text.
 */
export const unstructured = (result: unknown): unknown => {
  if (!isPlain(result) || result.structuredContent === undefined) return result;
  const { structuredContent, ...rest } = result;
  const content = isContent(rest.content) ? rest.content : [];
  const json = orUndefined(() => JSON.stringify(structuredContent)); // It may be nested too deeply.
  if (json === undefined) return rest;
  if (content.some(({ text }) => isSameJson(text, json))) return rest;
  return { ...rest, content: [...content, { type: 'text', text: json }] };
};

/** Revision 2026-07-28 of the protocol: the server asks for input before it continues, and the caller answers the request. */
export const waitsForInput = (result: unknown): boolean =>
  orUndefined(() => isPlain(result) && result.resultType === 'input_required') === true;

/** The text that the model reads in place of a result. */
export const rejectionOf = (text: string) => ({ isError: true, content: [{ type: 'text', text: written(text) }] });

/** Whether a text is this JSON, with any indentation. */
const isSameJson = (text: unknown, json: string): boolean => {
  try {
    return typeof text === 'string' && JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
};
