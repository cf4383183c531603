import { isDeepStrictEqual } from 'node:util';
import {
  BreakerboxConfigError,
  classifyError,
  classifyResult,
  createBreakerbox,
  ERROR_CATEGORIES,
} from '@breakerbox/core';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import { parseCapabilitiesYaml } from '@breakerbox/instrumentation/capabilities';
import { digest } from '../../packages/core/src/loop-guard/digest.ts';
import { readReturned, readThrown } from '../../packages/instrumentation/src/classify/classify.ts';
import { playRequests, requestsOf, stopPretender } from './control.ts';
import { checkExposition } from './exposition.ts';
import { garbageOf, playGarbage, stopRedis } from './fleet.ts';

/** Reads an input in every way that its part of the product does. Throws if a promise is broken. */
export type Target = (text: string) => void | Promise<void>;

const check = (holds: boolean, promise: string): void => {
  if (!holds) throw new Error(`does not hold: ${promise}`);
};

/** The value of a JSON text; undefined if it is not one. */
const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const classifier: Target = (text) => {
  const value = json(text);
  const errors = [new Error(text), text, value, Object.assign(new Error(text), value), { message: text, cause: value }];
  const results = [
    text,
    value,
    { isError: true, content: [{ type: 'text', text }] },
    { isError: true, content: value },
  ];
  const found = [
    ...errors.flatMap((error) => [classifyError(error), readThrown(error)]),
    ...results.flatMap((result) => [classifyResult(result) ?? [], readReturned(result) ?? []]).flat(),
  ];
  for (const { category, retryAfterMs = 0 } of found) {
    check(ERROR_CATEGORIES.includes(category), 'the category is one of the list');
    check(retryAfterMs >= 0 && Number.isFinite(retryAfterMs), 'retryAfterMs is a number of milliseconds');
  }
};

const isRefusal = (error: unknown): boolean => error instanceof BreakerboxConfigError;

const restoring: Target = (text) => {
  const value = json(text);
  const box = createBreakerbox({ agent: 'fuzz', clock: { now: () => 5_000, unixNow: () => 1_000_000 } });
  try {
    const session = restore(box, value, { elapsedMs: 0 });
    session.declare('search');
    session.acquire('search');
    const again = snapshot(session);
    restore(box, JSON.parse(JSON.stringify(again)), { elapsedMs: 0 });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
};

const SEED = 7;

/** The same value with its keys in the other order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, one]) => [key, reversed(one)]),
  );
};

const hashing: Target = (text) => {
  const value = json(text);
  const own = digest(value, SEED);
  check(own === digest(reversed(value), SEED), 'the order of keys does not matter');
  if (own === undefined || value === undefined) return;
  check(own !== digest([value], SEED), 'a value differs from a list of it');
  check(own !== digest({ value }, SEED), 'a value differs from an object that holds it');
  check(digest(text, SEED) !== digest(`${text}.`, SEED), 'texts differ');
};

const capabilities: Target = (text) => {
  try {
    const map = parseCapabilitiesYaml(text);
    const again = parseCapabilitiesYaml(JSON.stringify(map));
    check(isDeepStrictEqual(again, map), 'the map survives JSON');
    const session = createBreakerbox({ agent: 'fuzz', tools: map.tools }).session();
    for (const tool of Object.keys(map.tools)) session.acquire(tool);
    check(typeof session.note() === 'string', 'the note is a text');
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
};

/** By the names of their folders in `corpus`. */
export const targets: Readonly<Record<string, Target>> = {
  classifier,
  snapshot: restoring,
  hashing,
  capabilities,
  exposition: checkExposition,
  fleet: (text) => playGarbage(garbageOf(text)),
  control: (text) => playRequests(requestsOf(text)),
};

/** Ends what the targets have started. */
export const stopTargets = async (): Promise<void> => {
  await Promise.all([stopRedis(), stopPretender()]);
};
