import type { Sdk } from './contest.ts';

/** What the cost of a row must not go beyond. */
export interface Target {
  readonly id: string;
  /** In words. */
  readonly says: string;
  readonly case: string;
  readonly sdk: Sdk;
  readonly row: string;
  /** Times another row of the same processes, or a fact of the row itself that is at most so much. */
  readonly limit: { readonly times: number; readonly of: string } | { readonly fact: string; readonly atMost: number };
  /** Rows of parts that nobody can do without: what the row could cost at least. */
  readonly floor?: readonly string[];
}

/** A heap that has grown by less, after a hundred thousand sessions or more, holds nothing of them. */
const FLAT_BYTES = 1_048_576;
/** What two ways of doing the same are measured to differ by. */
const THE_SAME = 1.1;

const A_20TH = 1 / 20;
const A_3RD = 1 / 3;

export const TARGETS: readonly Target[] = [
  {
    id: 'closed',
    says: "A call that succeeds, no SDK, by hand: at most cockatiel's consecutive breaker",
    case: 'closed',
    sdk: 'none',
    row: 'hand',
    limit: { times: 1, of: 'cockatiel' },
    floor: ['wrapper'],
  },
  {
    id: 'closed-metrics',
    says: 'A call that succeeds, metrics on, by hand: at most 1.5 × a cockatiel call',
    case: 'closed',
    sdk: 'metrics',
    row: 'hand',
    limit: { times: 1.5, of: 'cockatiel' },
    floor: ['wrapper', 'clock'],
  },
  {
    id: 'closed-sampled',
    says: 'A call that succeeds, with a sampled span as well, by hand and the tool in its context: at most opossum + opossum-prometheus, which has none',
    case: 'closed',
    sdk: 'sampled',
    row: 'hand-context',
    limit: { times: 1, of: 'opossum-prometheus' },
    floor: ['wrapper', 'clock', 'span', 'context'],
  },
  {
    id: 'open-acquire-cockatiel',
    says: "Decision on an open circuit (acquire), no SDK: at most 1/20 of cockatiel's rejection",
    case: 'open',
    sdk: 'none',
    row: 'acquire',
    limit: { times: A_20TH, of: 'cockatiel' },
    floor: ['clock'],
  },
  {
    id: 'open-acquire-opossum',
    says: "Decision on an open circuit (acquire), no SDK: at most 1/20 of opossum's rejection",
    case: 'open',
    sdk: 'none',
    row: 'acquire',
    limit: { times: A_20TH, of: 'opossum' },
    floor: ['clock'],
  },
  {
    id: 'open-guard-cockatiel',
    says: "The same through guard() and its error, whose text nobody has read yet: at most 1/3 of cockatiel's rejection",
    case: 'open',
    sdk: 'none',
    row: 'guard',
    limit: { times: A_3RD, of: 'cockatiel' },
    floor: ['clock', 'rejection'],
  },
  {
    id: 'open-guard-opossum',
    says: "The same through guard() and its error, whose text nobody has read yet: at most 1/3 of opossum's rejection",
    case: 'open',
    sdk: 'none',
    row: 'guard',
    limit: { times: A_3RD, of: 'opossum' },
    floor: ['clock', 'rejection'],
  },
  {
    id: 'memory-circuit',
    says: "Memory of a closed circuit: at most 1/2 of cockatiel's consecutive breaker",
    case: 'memory',
    sdk: 'none',
    row: 'circuit',
    limit: { times: 0.5, of: 'cockatiel' },
  },
  {
    id: 'ended-sessions',
    says: 'Ended sessions leave nothing: heap flat over a million of them',
    case: 'ended',
    sdk: 'none',
    row: 'hand',
    limit: { fact: 'grownBytes', atMost: FLAT_BYTES },
  },
  {
    id: 'sessions-through-one-process',
    says: '100,000 sessions through one process: heap flat',
    case: 'sessions',
    sdk: 'metrics',
    row: 'guard',
    limit: { fact: 'grownBytes', atMost: FLAT_BYTES },
  },
  {
    id: 'failure-window-calls',
    says: 'A failure costs the same with 100,000 calls in a window of calls as with none',
    case: 'window',
    sdk: 'none',
    row: 'count-full',
    limit: { times: THE_SAME, of: 'count-empty' },
  },
  {
    id: 'failure-window-time',
    says: 'A failure costs the same with 100,000 calls in a window of time as with none',
    case: 'window',
    sdk: 'none',
    row: 'time-full',
    limit: { times: THE_SAME, of: 'time-empty' },
  },
  {
    id: 'probe',
    says: 'Of 1,000 callers at once, one reaches the tool that is probed',
    case: 'probe',
    sdk: 'none',
    row: 'guard',
    limit: { fact: 'toolCalls', atMost: 1 },
  },
];
