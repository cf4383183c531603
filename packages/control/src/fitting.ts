import { warnOnce } from '@breakerbox/core/internal';
import { z } from 'zod';
import { shownUrl, type Target } from './target.ts';
import { atOnce, type Parts } from './turns.ts';

/** Faults after which the rest of each list is left out: what has more is no control API, and each costs time. */
const MOST_FAULTS = 500;
/** Faults that are told. */
const MOST_TOLD = 20;

/** A value that a schema admits, and why parts of it were left out. */
export interface Fitting<Value> {
  readonly data: Value | undefined;
  readonly error: z.ZodError | undefined;
}

/**
 * The value without those elements of its lists that do not fit, so that one session or circuit that cannot be read does not hide all others.
 * A list that is too long is cut. `data` is undefined if the rest does not fit either.
 */
export const fitting = <Value>(schema: z.ZodType<Value>, given: unknown): Fitting<Value> =>
  atOnce(fittingParts(schema, given));

/** The same in parts. */
export function* fittingParts<Value>(schema: z.ZodType<Value>, given: unknown): Parts<Fitting<Value>> {
  const faults: Faults = { told: [], count: 0 };
  const data = yield* fit(schema, given, [], faults);
  return {
    data: data as Value | undefined,
    error: faults.count === 0 ? undefined : new z.ZodError(faults.told),
  };
}

type Path = readonly PropertyKey[];

interface Faults {
  readonly told: z.core.$ZodIssue[];
  count: number;
}

const note = (faults: Faults, path: Path, issues: readonly z.core.$ZodIssue[]): void => {
  faults.count += 1;
  if (faults.told.length >= MOST_TOLD || issues[0] === undefined) return;
  faults.told.push({ ...issues[0], path: [...path, ...issues[0].path] });
};

/** Undefined, and a fault noted, if it does not fit. */
function* fit(schema: z.core.$ZodType, given: unknown, path: Path, faults: Faults): Parts<unknown> {
  if (schema instanceof z.ZodOptional && given !== undefined)
    return yield* fit(schema.def.innerType, given, path, faults);
  if (schema instanceof z.ZodArray && Array.isArray(given)) return yield* fitList(schema, given, path, faults);
  if (schema instanceof z.ZodObject && isRecord(given)) return yield* fitObject(schema, given, path, faults);
  return checked(schema, given, path, faults);
}

const checked = (schema: z.core.$ZodType, given: unknown, path: Path, faults: Faults): unknown => {
  const { data, error } = z.safeParse(schema, given);
  if (error !== undefined) note(faults, path, error.issues);
  return data;
};

/** The lists of an object, and objects with lists, on their own; the rest at once. */
function* fitObject(schema: z.ZodObject, given: Record<string, unknown>, path: Path, faults: Faults): Parts<unknown> {
  const { rest, parts } = partsOf(schema);
  const own = parts.length === 0 ? given : { ...given };
  for (const [key] of parts) delete own[key];
  const found = checked(rest, own, path, faults);
  if (found === undefined) return undefined;
  const all = found as Record<string, unknown>;
  for (const [key, part] of parts) {
    const before = faults.count;
    const value = yield* fit(part, given[key], [...path, key], faults);
    if (value !== undefined) all[key] = value;
    else if (faults.count > before) return undefined;
  }
  return all;
}

function* fitList(schema: z.ZodArray, given: readonly unknown[], path: Path, faults: Faults): Parts<unknown> {
  const most = mostOf(schema);
  const fits: unknown[] = [];
  if (given.length > most) note(faults, path, [{ code: 'custom', path: [], message: `more than ${most} elements` }]);
  for (let index = 0; index < Math.min(given.length, most) && faults.count < MOST_FAULTS; index += 1) {
    const value = yield* fit(schema.element, given[index], [...path, index], faults);
    if (value !== undefined) fits.push(value);
    yield;
  }
  return fits;
}

const mostOf = ({ def: { checks = [] } }: z.ZodArray): number =>
  checks.reduce((most, { _zod: { def } }) => ('maximum' in def ? Math.min(most, Number(def.maximum)) : most), Infinity);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface ObjectParts {
  readonly rest: z.ZodObject;
  readonly parts: readonly (readonly [key: string, schema: z.core.$ZodType])[];
}

const known = new WeakMap<z.ZodObject, ObjectParts>();

const partsOf = (schema: z.ZodObject): ObjectParts => {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const parts = Object.entries<z.core.$ZodType>(schema.shape).filter(([, part]) => hasLists(part));
  const mask = Object.fromEntries(parts.map(([key]) => [key, true])) as Parameters<typeof schema.omit>[0];
  const made = { rest: schema.omit(mask), parts };
  known.set(schema, made);
  return made;
};

const hasLists = (schema: z.core.$ZodType): boolean => {
  if (schema instanceof z.ZodOptional) return hasLists(schema.def.innerType);
  if (schema instanceof z.ZodObject) return Object.values<z.core.$ZodType>(schema.shape).some(hasLists);
  return schema instanceof z.ZodArray;
};

/** Undefined for a text that is not JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Says once for each endpoint that something was ignored. */
export const warnOfIgnored = (target: Target, { issues: [first] }: z.ZodError): void =>
  warnOnce(
    'BREAKERBOX_FOREIGN_ANSWER',
    shownUrl(target),
    () =>
      `${shownUrl(target)} answered with values that this version of Breakerbox cannot read, and they are ignored. The first is ${first?.path.join('.') || 'the whole'}: ${first?.message}. Use the same version on both sides, and check that the address is a control API.`,
  );
