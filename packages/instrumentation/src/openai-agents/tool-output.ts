import { type FreshnessLabel, labelled } from '@breakerbox/core';
import { annotated, isPlain } from '@breakerbox/core/internal';
import { advisedResult } from '../advice.ts';
import { overlay } from '../overlay.ts';
import { hasMethod } from '../untrusted.ts';

/**
 * Core's `labelled` for the results that tools of the OpenAI Agents SDK may give besides strings and objects: text, image and file parts,
 * or a list of them. Inside an object the model would read them as JSON, images too.
 */
export const labelForAgents: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  withParts(result, (whole) => labelled(whole, label));

/** Core's `annotated` for the same results. */
export const noteForModel: typeof annotated = (result, key, words) =>
  withParts(result, (whole) => annotated(whole, key, words));

/** The advice after an error, in the same results. */
export const adviseForAgents = (result: unknown, advice: string): unknown =>
  withParts(result, (whole) => advisedResult(whole, advice));

const withParts = (result: unknown, change: (whole: unknown) => unknown): unknown => {
  const parts = partsOf(result);
  return parts === undefined ? change(result) : (change({ content: parts }) as { content: unknown }).content;
};

const PARTS = new Set(['text', 'image', 'file']);

/** The parts of a result; undefined if the SDK would not read it as parts. */
const partsOf = (result: unknown): readonly unknown[] | undefined => {
  try {
    const parts: readonly unknown[] = Array.isArray(result) ? result : [result];
    return parts.length > 0 && parts.every((part) => isPlain(part) && PARTS.has(part.type as string))
      ? parts
      : undefined;
  } catch {
    return undefined; // Tools may return any value, even a proxy that throws on access.
  }
};

/** An answer of a tool with an output schema that is not its own output. It bypasses the schema, which would reject it. */
class Unchecked {
  readonly make: (check: (output: unknown) => unknown) => unknown;

  constructor(make: Unchecked['make']) {
    this.make = make;
  }

  /** For SDK versions that only give the schema to the model, and do not check outputs. */
  toJSON(): unknown {
    return this.make((output) => output);
  }
}

/** A rejection. */
export const uncheckedText = (words: string): unknown => new Unchecked(() => words);

/** {@link labelForAgents} that checks the result first, without its label. */
export const labelUnchecked: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  new Unchecked((check) => labelled(check(result), label));

/** A result that reports an error, which is checked without its advice. */
export const adviseUnchecked = (result: unknown, advice: string): unknown =>
  new Unchecked((check) => advisedResult(check(result), advice));

/** Whether a schema checks outputs when the SDK asks. JSON schemas do not: they are only given to the model. */
export const isCheckingSchema = (schema: unknown): schema is CheckingSchema => hasMethod(schema, 'parse');

interface CheckingSchema {
  parse(output: unknown, ...rest: unknown[]): unknown;
  readonly _zod?: object;
}

/** The same schema, which lets {@link Unchecked} answers pass. */
export const lenient = (schema: CheckingSchema): CheckingSchema => {
  const parse = (output: unknown, ...rest: unknown[]): unknown =>
    output instanceof Unchecked ? output.make((own) => schema.parse(own, ...rest)) : schema.parse(output, ...rest);
  const members = new Map<PropertyKey, unknown>([['parse', parse]]);
  // Zod keeps the data of meta() by schema object, and finds it for a copy by its parent.
  if (schema._zod) members.set('_zod', Object.create(schema._zod, { parent: { value: schema, enumerable: true } }));
  return overlay(schema, members);
};
