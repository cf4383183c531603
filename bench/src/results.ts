import { type Case, type Contender, type Findings, FULL, inWords, type Pace, type Sdk } from './contest.ts';
import type { Machine } from './machine.ts';
import { ratioOf, type Spread, spreadOf } from './stats.ts';
import type { Target } from './targets.ts';

/** Rows that the others of their case are compared with. */
export const BASELINES = ['bare', 'cockatiel', 'opossum', 'opossum-prometheus'] as const;
export type Baseline = (typeof BASELINES)[number];

/** One contestant's cost. */
export interface Row extends Spread {
  readonly id: string;
  readonly title: string;
  readonly by: Contender;
  /** Times the baselines that were measured in the same processes: medians of the ratios of each round. */
  readonly ratios: Readonly<Partial<Record<Baseline, Spread>>>;
  readonly facts?: Readonly<Record<string, number>>;
}

/** One case under one SDK. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly sdk: Sdk;
  /** Of medians and quartiles. */
  readonly unit: Case['unit'];
  readonly rows: readonly Row[];
  /** What `/metrics` said at the end, where there was one. */
  readonly facts?: Readonly<Record<string, number>>;
}

/** How a target stands. */
export interface Verdict {
  readonly id: string;
  readonly says: string;
  /** The row that it is about: case/sdk/row. */
  readonly about: string;
  readonly reading?: Target['reading'];
  /** A ratio where the target is one, else what was counted. */
  readonly measured: number;
  /** Of the ratio, where it is one. Where the limit lies between them, another run may end otherwise. */
  readonly quartiles?: readonly [number, number];
  readonly limit: number;
  /** Undefined after a quick run, which judges nothing. */
  readonly met?: boolean;
  /** What the parts cost alone, where they were measured, in the unit of the case. */
  readonly floor?: {
    readonly parts: readonly { readonly title: string; readonly median: number }[];
    readonly median: number;
    /** The row's median less the floor. */
    readonly above: number;
  };
}

/** Whether another run may well end otherwise. */
export const isClose = ({ quartiles: [low, high] = [0, 0], limit }: Verdict): boolean => low <= limit && limit <= high;

/** All of one run; `bench/results.json` is one. */
export interface Results {
  readonly format: 1;
  readonly date: string;
  readonly pace: 'full' | 'quick';
  readonly tookSeconds: number;
  readonly machine: Machine;
  readonly cases: readonly CaseResult[];
  readonly targets: readonly Verdict[];
}

/** What was found of one case under one SDK. */
export interface Found {
  readonly one: Case;
  readonly sdk: Sdk;
  readonly findings: Findings;
}

const DIGITS = 4;
/** Digits that nobody measured are not written. */
const rounded = (value: number): number => Number(value.toPrecision(DIGITS));
const roundedSpread = ({ median, p25, p75 }: Spread): Spread => ({
  median: rounded(median),
  p25: rounded(p25),
  p75: rounded(p75),
});
const roundedFacts = (facts: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, Math.round(value)]));

/** The table of one case. */
export const tell = (
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
    title: inWords(title, pace),
    sdk,
    unit,
    rows,
    ...(Object.keys(all).length > 0 && { facts: roundedFacts(all) }),
  };
};

const measuredBy = ({ row, limit }: Target, { samples, facts = {} }: Findings) => {
  if ('fact' in limit) return { measured: facts[row]?.[limit.fact] ?? Number.NaN, limit: limit.atMost };
  const { median, p25, p75 } = ratioOf(samples[row] ?? [], samples[limit.of] ?? []);
  return { measured: median, quartiles: [rounded(p25), rounded(p75)] as const, limit: limit.times };
};

/** How a target stands; undefined where its case was not run. */
export const judge = (target: Target, all: readonly Found[], pace: Pace): Verdict | undefined => {
  const found = all.find(({ one, sdk }) => one.id === target.case && sdk === target.sdk);
  if (found === undefined) return undefined;
  const { contestants, samples } = found.findings;
  const { measured, quartiles, limit } = measuredBy(target, found.findings);
  const parts = (target.floor ?? []).map((id) => ({
    title: contestants.find((one) => one.id === id)?.title ?? id,
    median: rounded(spreadOf(samples[id] ?? []).median),
  }));
  const median = parts.reduce((sum, part) => sum + part.median, 0);
  const above = spreadOf(samples[target.row] ?? []).median - median;
  return {
    id: target.id,
    says: inWords(target.says, pace),
    about: `${target.case}/${target.sdk}/${target.row}`,
    ...(target.reading && { reading: target.reading }),
    measured: rounded(measured),
    ...(quartiles && { quartiles }),
    limit: rounded(limit),
    ...(pace === FULL && { met: measured <= limit }),
    ...(parts.length > 0 && { floor: { parts, median: rounded(median), above: rounded(above) } }),
  };
};
