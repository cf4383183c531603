import { type Case, type Contender, type Findings, FULL, type Pace, type Sdk } from './contest.ts';
import type { Machine } from './machine.ts';
import { ratioOf, type Spread, spreadOf } from './stats.ts';
import type { Limit, Target } from './targets.ts';

/** Rows that the other rows of their case are compared with. */
export const BASELINES = ['bare', 'cockatiel', 'opossum', 'opossum-prometheus'] as const;
export type Baseline = (typeof BASELINES)[number];

/** The cost of one contestant. */
export interface Row extends Spread {
  readonly id: string;
  readonly title: string;
  readonly by: Contender;
  /** Ratios to the baselines of the same processes: medians of the ratios of each round. */
  readonly ratios: Readonly<Partial<Record<Baseline, Spread>>>;
  readonly facts?: Readonly<Record<string, number>>;
}

/** One case under one SDK. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly sdk: Sdk;
  /** The unit of medians and quartiles. */
  readonly unit: Case['unit'];
  readonly rows: readonly Row[];
  /** What `/metrics` reported at the end, if there was an endpoint. */
  readonly facts?: Readonly<Record<string, number>>;
}

/** Whether a target is met. */
export interface Verdict {
  readonly id: string;
  readonly says: string;
  /** The row of the target: case/sdk/row. */
  readonly about: string;
  /** A ratio, or a count if the target is a count. */
  readonly measured: number;
  /** Of the ratio, if it is one. If the limit lies between the quartiles, another run may end differently. */
  readonly quartiles?: readonly [number, number];
  readonly limit: number;
  /** Undefined after a quick run, which judges no target. */
  readonly met?: boolean;
  /** The cost of the parts alone in the unit of the case, if they were measured. */
  readonly floor?: {
    readonly parts: readonly { readonly title: string; readonly median: number }[];
    readonly median: number;
    /** The row's median minus the floor. */
    readonly above: number;
  };
}

/** Whether another run may end differently. */
export const isClose = ({ quartiles: [low, high] = [0, 0], limit }: Verdict): boolean => low <= limit && limit <= high;

/** The results of one run; `bench/results.json` is one. */
export interface Results {
  readonly format: 1;
  readonly date: string;
  readonly pace: 'full' | 'quick';
  readonly tookSeconds: number;
  readonly machine: Machine;
  readonly cases: readonly CaseResult[];
  readonly targets: readonly Verdict[];
}

/** The findings of one case under one SDK. */
export interface Found {
  readonly one: Case;
  readonly sdk: Sdk;
  readonly findings: Findings;
}

const DIGITS = 4;
/** Leaves out digits that the measurement does not support. */
const rounded = (value: number): number => Number(value.toPrecision(DIGITS));
const roundedSpread = ({ median, p25, p75 }: Spread): Spread => ({
  median: rounded(median),
  p25: rounded(p25),
  p75: rounded(p75),
});
const roundedFacts = (facts: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, Math.round(value)]));

/** The rows of one case. */
export const caseResult = (
  { one: { id, title, unit }, sdk, findings: { contestants, samples, facts = {} } }: Found,
  pace: Pace,
): CaseResult => {
  const rows = contestants.map((contestant): Row => {
    const values = samples[contestant.id] ?? [];
    const bases = BASELINES.filter((base) => base in samples);
    const own = facts[contestant.id];
    return {
      id: contestant.id,
      title: contestant.title,
      by: contestant.by,
      ...roundedSpread(spreadOf(values)),
      ratios: Object.fromEntries(bases.map((base) => [base, roundedSpread(ratioOf(values, samples[base] ?? []))])),
      ...(own && { facts: roundedFacts(own) }),
    };
  });
  const all = facts.all ?? {};
  return {
    id,
    title: title(pace),
    sdk,
    unit,
    rows,
    ...(Object.keys(all).length > 0 && { facts: roundedFacts(all) }),
  };
};

const measuredBy = (row: string, limit: Limit, { samples, facts = {} }: Findings) => {
  if ('fact' in limit) return { measured: facts[row]?.[limit.fact] ?? Number.NaN, limit: limit.atMost };
  const { median, p25, p75 } = ratioOf(samples[row] ?? [], samples[limit.of] ?? []);
  return { measured: median, quartiles: [rounded(p25), rounded(p75)] as const, limit: limit.times };
};

/** Whether a target is met; undefined if its case did not run. */
export const judge = (target: Target, all: readonly Found[], pace: Pace): Verdict | undefined => {
  const { id, says, about, limit: asked, floor } = target;
  const [caseId, sdkId, row = ''] = about.split('/');
  const found = all.find(({ one, sdk }) => one.id === caseId && sdk === sdkId);
  if (found === undefined) return undefined;
  const { contestants, samples } = found.findings;
  const { measured, quartiles, limit } = measuredBy(row, asked, found.findings);
  const parts = floor.map((part) => ({
    title: contestants.find((one) => one.id === part)?.title ?? part,
    median: rounded(spreadOf(samples[part] ?? []).median),
  }));
  const median = parts.reduce((sum, part) => sum + part.median, 0);
  const above = spreadOf(samples[row] ?? []).median - median;
  return {
    id,
    says: says(pace),
    about,
    measured: rounded(measured),
    ...(quartiles && { quartiles }),
    limit: rounded(limit),
    ...(pace === FULL && { met: measured <= limit }),
    ...(parts.length > 0 && { floor: { parts, median: rounded(median), above: rounded(above) } }),
  };
};
