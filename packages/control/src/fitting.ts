import { warnOnce } from '@breakerbox/core/internal';
import type { z } from 'zod';
import { shownUrl, type Target } from './target.ts';

/** Rounds in which parts are left out: without a part, another check may see more. */
const MOST_ROUNDS = 5;

/** A value that a schema admits, and why parts of it were left out. */
export interface Fitting<Value> {
  readonly data: Value | undefined;
  readonly error: z.ZodError | undefined;
}

/**
 * The value without those elements of its lists that do not fit, so that one session or circuit that cannot be read does not hide all others.
 * `data` is undefined if the rest does not fit either.
 */
export const fitting = <Value>(schema: z.ZodType<Value>, given: unknown): Fitting<Value> => {
  let found = schema.safeParse(given);
  const { error } = found;
  const rest: unknown = found.success ? given : structuredClone(given);
  for (let round = 0; !found.success && round < MOST_ROUNDS; round += 1) {
    if (!leaveOut(rest, found.error.issues)) return { data: undefined, error };
    found = schema.safeParse(rest);
  }
  return { data: found.data, error };
};

type Path = readonly PropertyKey[];

/** Removes the innermost element of a list around each fault. False if a fault is in no list. */
const leaveOut = (value: unknown, issues: readonly { readonly path: Path }[]): boolean => {
  const lists = new Map<unknown[], Set<number>>();
  for (const { path } of issues) {
    const element = elementAround(value, path);
    if (element === undefined) return false;
    lists.set(element.list, (lists.get(element.list) ?? new Set()).add(element.index));
  }
  for (const [list, indexes] of lists) {
    const left = list.filter((_, index) => !indexes.has(index));
    list.splice(0, list.length);
    for (const one of left) list.push(one);
  }
  return true;
};

const elementAround = (
  value: unknown,
  path: Path,
): { readonly list: unknown[]; readonly index: number } | undefined => {
  let at = value;
  let found: { readonly list: unknown[]; readonly index: number } | undefined;
  for (const key of path) {
    if (Array.isArray(at) && typeof key === 'number') found = { list: at, index: key };
    at = (at as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key];
  }
  return found;
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
