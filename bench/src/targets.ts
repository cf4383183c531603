import type { Pace } from './contest.ts';

/** A multiple of another row of the same processes, or the most that a fact of the row itself may be. */
export type Limit =
  | { readonly times: number; readonly of: string }
  | { readonly fact: string; readonly atMost: number };

/**
 * A limit for the cost of a row. If there are two ways of use that differ in cost, each has a target: by hand without and in the
 * decision's context, a rejection whose text is not read and is read, a circuit without its session and with its share of one.
 */
export interface Target {
  readonly id: string;
  /** In words. Only its sentence may depend on the pace. */
  readonly says: (pace: Pace) => string;
  /** The row: case/sdk/row. */
  readonly about: string;
  readonly limit: Limit;
  /** Rows of parts that every breaker needs: the least that the row can cost. */
  readonly floor: readonly string[];
}

/** Growth of the heap below which ended sessions hold nothing, after a hundred thousand sessions or more. */
const FLAT_BYTES = 1_048_576;
/** The ratio up to which two ways of doing the same count as equal. Measurements differ by as much. */
const THE_SAME = 1.1;

const times = (factor: number, of: string): Limit => ({ times: factor, of });
const many = (count: number): string => count.toLocaleString('en');

const target = (id: string, says: string | Target['says'], about: string, limit: Limit, floor = ''): Target => ({
  id,
  says: typeof says === 'string' ? () => says : says,
  about,
  limit,
  floor: floor.split(' ').filter(Boolean),
});

const CLOSED = 'A call that succeeds';
const OPEN = 'A call while the circuit is open, no SDK';
const PEERS = ['cockatiel', 'opossum'];

export const TARGETS: readonly Target[] = [
  target(
    'closed',
    `${CLOSED}, no SDK, by hand: at most cockatiel`,
    'closed/none/hand',
    times(1, 'cockatiel'),
    'wrapper',
  ),
  target(
    'closed-context',
    `${CLOSED}, no SDK, by hand in its context: at most cockatiel`,
    'closed/none/hand-context',
    times(1, 'cockatiel'),
    'wrapper context',
  ),
  target(
    'closed-metrics',
    `${CLOSED}, metrics on, by hand: at most 1.5 × cockatiel`,
    'closed/metrics/hand',
    times(1.5, 'cockatiel'),
    'wrapper clock',
  ),
  target(
    'closed-metrics-context',
    `${CLOSED}, metrics on, by hand in its context: at most 1.5 × cockatiel`,
    'closed/metrics/hand-context',
    times(1.5, 'cockatiel'),
    'wrapper clock context',
  ),
  target(
    'closed-sampled',
    `${CLOSED}, metrics and a sampled span, by hand in its context: at most opossum + opossum-prometheus, which has no spans`,
    'closed/sampled/hand-context',
    times(1, 'opossum-prometheus'),
    'wrapper clock span context',
  ),
  ...PEERS.map((of) =>
    target(
      `open-acquire-${of}`,
      `${OPEN}, acquire: at most 1/20 of ${of}`,
      'open/none/acquire',
      times(1 / 20, of),
      'clock',
    ),
  ),
  ...PEERS.flatMap((of) =>
    [
      { row: 'guard', text: 'unread' },
      { row: 'guard-message', text: 'read' },
    ].map(({ row, text }) =>
      target(
        `open-${row}-${of}`,
        `${OPEN}, through guard(), its error's text ${text}: at most 1/3 of ${of}`,
        `open/none/${row}`,
        times(1 / 3, of),
        'clock rejection',
      ),
    ),
  ),
  target(
    'memory-circuit',
    'Memory of a closed circuit, without its session: at most 1/2 of cockatiel',
    'memory/none/circuit',
    times(0.5, 'cockatiel'),
  ),
  target(
    'memory-circuit-and-share',
    'Memory of a closed circuit and its twentieth of a session: at most 1/2 of cockatiel',
    'memory/none/circuit-and-share',
    times(0.5, 'cockatiel'),
  ),
  target(
    'ended-sessions',
    ({ endedSessions }) => `Ended sessions leave nothing: heap flat over ${many(endedSessions)} of them`,
    'ended/none/hand',
    { fact: 'grownBytes', atMost: FLAT_BYTES },
  ),
  target(
    'sessions-through-one-process',
    ({ sessions }) => `${many(sessions)} sessions through one process: heap flat`,
    'sessions/metrics/guard',
    { fact: 'grownBytes', atMost: FLAT_BYTES },
  ),
  target(
    'failure-window-calls',
    'A failure costs the same with 100,000 calls in a window of calls as with none',
    'window/none/count-full',
    times(THE_SAME, 'count-empty'),
  ),
  target(
    'failure-window-time',
    'A failure costs the same with 100,000 calls in a window of time as with none',
    'window/none/time-full',
    times(THE_SAME, 'time-empty'),
  ),
  target('probe', 'Of 1,000 callers at once, one reaches the tool that is probed', 'probe/none/guard', {
    fact: 'toolCalls',
    atMost: 1,
  }),
];
