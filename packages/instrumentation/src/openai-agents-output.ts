import { type FreshnessLabel, labelled } from '@breakerbox/core';
import { annotated, isPlain } from '@breakerbox/core/internal';
import { hasMethod } from './has-method.ts';
import { standIn } from './stand-in.ts';

/**
 * Core's `labelled` for what tools of the OpenAI Agents SDK may give beside texts and objects: text, image and file parts, or
 * a list of them. Put into an object they would reach the model as JSON, images too.
 */
export const labelForModel: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  withParts(result, (whole) => labelled(whole, label));

/** The same for a note. */
export const noteForModel: typeof annotated = (result, key, words) =>
  withParts(result, (whole) => annotated(whole, key, words));

const withParts = (result: unknown, change: (whole: unknown) => unknown): unknown => {
  const parts = partsOf(result);
  return parts === undefined ? change(result) : (change({ content: parts }) as { content: unknown }).content;
};

const PARTS = new Set(['text', 'image', 'file']);

/** What the SDK takes for parts. */
const partsOf = (result: unknown): readonly unknown[] | undefined => {
  try {
    const parts: readonly unknown[] = Array.isArray(result) ? result : [result];
    return parts.length > 0 && parts.every((part) => isPlain(part) && PARTS.has(part.type as string))
      ? parts
      : undefined;
  } catch {
    return undefined; // What tools return is anything, proxies that throw when they are looked at too.
  }
};

/** What a tool with an output schema answers where that is not its own output: past the schema, which would refuse it. */
class Aside {
  readonly make: (check: (output: unknown) => unknown) => unknown;

  constructor(make: Aside['make']) {
    this.make = make;
  }

  /** For versions of the SDK that only tell the model of the schema, and don't check. */
  toJSON(): unknown {
    return this.make((output) => output);
  }
}

/** A refusal. */
export const aside = (words: string): unknown => new Aside(() => words);

/** {@link labelForModel} where the result is checked first, and its label stays out of that. */
export const labelAside: typeof labelled = (result: unknown, label: FreshnessLabel): unknown =>
  new Aside((check) => labelled(check(result), label));

/** A schema that checks outputs, as the SDK asks it to: not a JSON schema, which is only told to the model. */
export const isCheckingSchema = (schema: unknown): schema is CheckingSchema => hasMethod(schema, 'parse');

interface CheckingSchema {
  parse(output: unknown, ...rest: unknown[]): unknown;
  readonly _zod?: object;
}

/** The same schema, but for what is no output. */
export const lenient = (schema: CheckingSchema): CheckingSchema => {
  const parse = (output: unknown, ...rest: unknown[]): unknown =>
    output instanceof Aside ? output.make((own) => schema.parse(own, ...rest)) : schema.parse(output, ...rest);
  const members = new Map<PropertyKey, unknown>([['parse', parse]]);
  // Zod keeps what meta() was given by the schema itself, and finds it for a copy by its parent.
  if (schema._zod) members.set('_zod', Object.create(schema._zod, { parent: { value: schema, enumerable: true } }));
  return standIn(schema, members);
};
