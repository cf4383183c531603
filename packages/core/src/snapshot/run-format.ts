import {
  AS_WRITTEN,
  type Check,
  complete,
  list,
  nullable,
  number,
  oneOf,
  optional,
  shortName,
} from '../checks/checks.ts';
import { LIMIT_KINDS, LIMIT_MODES, type Limits } from '../limits/limits.ts';
import { Run } from '../limits/run.ts';
import type { ChildSnapshot, LimitSnapshot, RunSnapshot } from './session-snapshot.ts';

/** How what a run uses is written into a snapshot, checked, and read back (C11). */

const MOST = Number.MAX_SAFE_INTEGER;
const amount = number(0, AS_WRITTEN, { most: MOST });
const count = number(0, AS_WRITTEN, { whole: true, most: MOST });

const flag = oneOf([true, false], AS_WRITTEN);

const aLimit = complete({
  limit: oneOf(LIMIT_KINDS, AS_WRITTEN),
  size: amount,
  mode: oneOf(LIMIT_MODES, AS_WRITTEN),
  currency: nullable(shortName),
  reserves: optional(flag),
  boxSize: optional(amount),
} satisfies Record<keyof LimitSnapshot, Check>);

/** Levels of children. A tree of sub-agents has a few. */
const MOST_LEVELS = 100;

const ofRun = (levels: number) =>
  ({
    ageMs: amount,
    limits: list(aLimit),
    used: complete({ calls: count, steps: count, tokens: amount, cost: amount }),
    estimated: complete({ tokens: amount, cost: amount }),
    answered: optional(flag),
    inStep: optional(flag),
    beginsSteps: optional(flag),
    children: optional(children(levels)),
  }) satisfies Record<keyof RunSnapshot, Check>;

const children =
  (levels: number): Check =>
  (path, value) => {
    if (levels === 0) return [{ path, message: `is below ${MOST_LEVELS} other lists of children. Remove it.` }];
    const of = ofRun(levels - 1);
    const aChild = { ...of, id: shortName, name: nullable(shortName) } satisfies Record<keyof ChildSnapshot, Check>;
    return list(complete(aChild))(path, value);
  };

export const checkRun = complete(ofRun(MOST_LEVELS));

/** Children that were not taken again since the last snapshot. A program that never ends its children must not make each snapshot larger. */
const MOST_KEPT = 50;

/** Sums of fractions may be a trace below 0, and no amount is more than can be read back. */
const sum = (one: number, other = 0): number => Math.min(MOST, Math.max(0, one + other));

/** What the answers of models that are under way in a tree are expected to use, as far as it is kept for them (D3). */
const answersUnderWay = ({ answer, children }: Run, kind: 'tokens' | 'cost'): number =>
  children.reduce(
    (all, child) => all + answersUnderWay(child, kind),
    answer?.isUnderWay === true ? answer.expected[kind] : 0,
  );

export const writeRun = (run: Run, ms: number): RunSnapshot => {
  const { limits, used, estimated, underWay, beganMs } = run;
  const answers = { tokens: answersUnderWay(run, 'tokens'), cost: answersUnderWay(run, 'cost') };
  const children = [...run.children, ...run.kept.slice(0, Math.max(0, MOST_KEPT - run.children.length))];
  return {
    ageMs: Math.max(0, ms - beganMs),
    limits: LIMIT_KINDS.flatMap((limit) => {
      const one = limits[limit];
      if (one === undefined) return [];
      const { size, mode, currency = null, reserves, boxSize } = one;
      const origin = { ...(reserves && { reserves }), ...(boxSize !== undefined && { boxSize }) };
      return [{ limit, size: sum(size), mode, currency, ...origin }];
    }),
    used: {
      calls: used.calls,
      steps: used.steps,
      tokens: sum(used.tokens, answers.tokens),
      cost: sum(used.cost, answers.cost),
    },
    // D1: a call that was under way counts its estimate.
    estimated: {
      tokens: sum(estimated.tokens, underWay.tokens + answers.tokens),
      cost: sum(estimated.cost, underWay.cost + answers.cost),
    },
    ...(run.hasLastAnswer && { answered: true }),
    ...(run.inStep && !run.isStepOver && { inStep: true }),
    ...(run.beginsSteps !== undefined && { beginsSteps: run.beginsSteps }),
    ...(children.length > 0 && {
      children: children.map((child) => ({ ...writeRun(child, ms), id: child.id, name: child.name ?? null })),
    }),
  };
};

/** C11: the time since the snapshot counts as passed. Children count as ended until they are taken again. */
export const readRun = (id: string, kept: RunSnapshot | undefined, ms: number): Run | undefined => {
  if (kept === undefined) return undefined;
  const run = recalled(kept, { id, name: null }, ms);
  run.kept = keptIn(kept, ms);
  return run;
};

const recalled = (
  { ageMs, limits: all, used, estimated, answered = false, inStep = false, beginsSteps }: RunSnapshot,
  { id, name }: Pick<ChildSnapshot, 'id' | 'name'>,
  ms: number,
): Run => {
  const limits: Limits = {};
  for (const { limit, size, mode, currency, reserves = false, boxSize } of all)
    limits[limit] = { size, mode, reserves, boxSize, currency: currency?.toUpperCase() };
  const run = new Run({ id, name: name ?? undefined, limits, beganMs: ms - ageMs });
  Object.assign(run.used, used);
  Object.assign(run.held, used);
  Object.assign(run.estimated, estimated);
  run.hasLastAnswer = answered;
  run.inStep = inStep;
  run.beginsSteps = beginsSteps;
  return run;
};

/** Each child and its own children. */
const keptIn = ({ children = [] }: RunSnapshot, ms: number): Run[] =>
  children.map((child) => {
    const run = recalled(child, child, ms);
    run.ended = true;
    run.kept = keptIn(child, ms);
    return run;
  });
