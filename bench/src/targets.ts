import type { Sdk, Words } from './contest.ts';

/** A limit for the cost of a row. */
export interface Target {
  readonly id: string;
  /** In words. */
  readonly says: Words;
  /**
   * If there are two ways of use that differ in cost, each is judged. `lean`: by hand without the decision's context, a rejection whose
   * text is not read, a circuit without its session. `full`: in the context, with the text, with the circuit's share of the session.
   * Undefined: there is one way.
   */
  readonly reading?: 'lean' | 'full';
  readonly case: string;
  readonly sdk: Sdk;
  readonly row: string;
  /** A multiple of another row of the same processes, or the most that a fact of the row itself may be. */
  readonly limit: { readonly times: number; readonly of: string } | { readonly fact: string; readonly atMost: number };
  /** Rows of parts that every breaker needs: the least that the row can cost. */
  readonly floor?: readonly string[];
}

/** Growth of the heap below which ended sessions hold nothing, after a hundred thousand sessions or more. */
const FLAT_BYTES = 1_048_576;
/** The ratio up to which two ways of doing the same count as equal. Measurements differ by as much. */
const THE_SAME = 1.1;

const many = (count: number): string => count.toLocaleString('en');

const A_20TH = 1 / 20;
const A_3RD = 1 / 3;

export const TARGETS: readonly Target[] = [
  {
    id: 'closed',
    says: 'A call that succeeds, no SDK, by hand: at most cockatiel',
    reading: 'lean',
    case: 'closed',
    sdk: 'none',
    row: 'hand',
    limit: { times: 1, of: 'cockatiel' },
    floor: ['wrapper'],
  },
  {
    id: 'closed-context',
    says: 'A call that succeeds, no SDK, by hand in its context: at most cockatiel',
    reading: 'full',
    case: 'closed',
    sdk: 'none',
    row: 'hand-context',
    limit: { times: 1, of: 'cockatiel' },
    floor: ['wrapper', 'context'],
  },
  {
    id: 'closed-metrics',
    says: 'A call that succeeds, metrics on, by hand: at most 1.5 × cockatiel',
    reading: 'lean',
    case: 'closed',
    sdk: 'metrics',
    row: 'hand',
    limit: { times: 1.5, of: 'cockatiel' },
    floor: ['wrapper', 'clock'],
  },
  {
    id: 'closed-metrics-context',
    says: 'A call that succeeds, metrics on, by hand in its context: at most 1.5 × cockatiel',
    reading: 'full',
    case: 'closed',
    sdk: 'metrics',
    row: 'hand-context',
    limit: { times: 1.5, of: 'cockatiel' },
    floor: ['wrapper', 'clock', 'context'],
  },
  {
    id: 'closed-sampled',
    says: 'A call that succeeds, metrics and a sampled span, by hand in its context: at most opossum + opossum-prometheus, which has no spans',
    case: 'closed',
    sdk: 'sampled',
    row: 'hand-context',
    limit: { times: 1, of: 'opossum-prometheus' },
    floor: ['wrapper', 'clock', 'span', 'context'],
  },
  ...(['cockatiel', 'opossum'] as const).map(
    (of): Target => ({
      id: `open-acquire-${of}`,
      says: `A call while the circuit is open, no SDK, acquire: at most 1/20 of ${of}`,
      case: 'open',
      sdk: 'none',
      row: 'acquire',
      limit: { times: A_20TH, of },
      floor: ['clock'],
    }),
  ),
  ...(['cockatiel', 'opossum'] as const).flatMap((of): Target[] => [
    {
      id: `open-guard-${of}`,
      says: `A call while the circuit is open, no SDK, through guard(), its error's text unread: at most 1/3 of ${of}`,
      reading: 'lean',
      case: 'open',
      sdk: 'none',
      row: 'guard',
      limit: { times: A_3RD, of },
      floor: ['clock', 'rejection'],
    },
    {
      id: `open-guard-message-${of}`,
      says: `A call while the circuit is open, no SDK, through guard(), its error's text read: at most 1/3 of ${of}`,
      reading: 'full',
      case: 'open',
      sdk: 'none',
      row: 'guard-message',
      limit: { times: A_3RD, of },
      floor: ['clock', 'rejection'],
    },
  ]),
  {
    id: 'memory-circuit',
    says: 'Memory of a closed circuit, without its session: at most 1/2 of cockatiel',
    reading: 'lean',
    case: 'memory',
    sdk: 'none',
    row: 'circuit',
    limit: { times: 0.5, of: 'cockatiel' },
  },
  {
    id: 'memory-circuit-and-share',
    says: 'Memory of a closed circuit and its twentieth of a session: at most 1/2 of cockatiel',
    reading: 'full',
    case: 'memory',
    sdk: 'none',
    row: 'circuit-and-share',
    limit: { times: 0.5, of: 'cockatiel' },
  },
  {
    id: 'ended-sessions',
    says: ({ endedSessions }) => `Ended sessions leave nothing: heap flat over ${many(endedSessions)} of them`,
    case: 'ended',
    sdk: 'none',
    row: 'hand',
    limit: { fact: 'grownBytes', atMost: FLAT_BYTES },
  },
  {
    id: 'sessions-through-one-process',
    says: ({ sessions }) => `${many(sessions)} sessions through one process: heap flat`,
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
