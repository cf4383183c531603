import type { Availability } from '../index.ts';
import type { Model, ModelSession } from './model.ts';

/** K3: where the configuration does not say otherwise, a score is asked for again after this time. */
const MAX_AGE_MS = 30_000;

/** K1, K3: the score of a declared tool for a decision; checks here answer at once. */
export const scoreNow = (model: Model, { box }: ModelSession, tool: string): Availability => {
  const health = model.health.get(tool);
  if (health === undefined) return 'available';
  const known = box.scores.get(tool);
  if (known === undefined || model.ms - known.ms > MAX_AGE_MS) {
    box.scores.set(tool, { availability: health, ms: model.ms });
    const key = `prechecks|${tool}|${health}`;
    model.counted.set(key, (model.counted.get(key) ?? 0) + 1);
  }
  return box.scores.get(tool)?.availability ?? 'available';
};

/** The same for a call that ends; a score of more than twice that age says nothing. */
export const scoreAt = ({ box }: ModelSession, tool: string, ms: number): Availability => {
  const known = box.scores.get(tool);
  return known === undefined || ms - known.ms >= 2 * MAX_AGE_MS ? 'available' : known.availability;
};

/** O5: the same call has had the same result too often, without a success. */
export const isRepeat = (
  { loops }: ModelSession,
  tool: string,
  input: string | undefined,
  repeats: number | undefined,
): boolean => loops.some((one) => one.tool === tool && one.input === input && one.times >= (repeats ?? Infinity));

/** O5: something else is tried, which lifts what is blocked. A call that repeats one without success is not something else. */
export const tried = (
  session: ModelSession,
  tool: string,
  input: string | undefined,
  repeats: number | undefined,
): void => {
  if (input !== undefined && session.loops.some((one) => one.tool === tool && one.input === input)) return;
  session.loops = session.loops.filter((one) => one.tool !== tool && one.times < (repeats ?? Infinity));
};

/** O5: a success starts all counts again; the same result again adds one, any other begins at 1. */
export const resulted = (
  session: ModelSession,
  tool: string,
  input: string | undefined,
  way: string,
  repeats: number | undefined,
): void => {
  if (repeats === undefined) return;
  if (way.startsWith('success')) {
    session.loops = [];
    return;
  }
  const known = session.loops.find((one) => one.tool === tool);
  // A call that was begun before its tool was blocked says nothing new.
  if (input === undefined || (known !== undefined && known.times >= repeats)) return;
  const times = known?.input === input && known.way === way ? known.times + 1 : 1;
  session.loops = [...session.loops.filter((one) => one !== known), { tool, input, way, times }];
};
