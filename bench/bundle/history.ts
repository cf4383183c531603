import { RECORDED } from '../../alerts/src/record.ts';
import { RECORDINGS } from '../../alerts/src/recording.ts';
import { type BlockSeries, writeBlock } from './block.ts';
import { type Chunk, chunksOf } from './chunks.ts';
import {
  agentName,
  BROKEN,
  type Course,
  instanceOf,
  isTroubled,
  JOB,
  type Labels,
  ofAgent,
  type Shape,
  toolNames,
} from './shape.ts';

export interface Size {
  readonly agents: number;
  readonly tools: number;
}

/** Agents differ in when they call. Those of one variant share their samples. */
const VARIANTS = 16;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const SCRAPE = 15_000;

/** A series of the history. */
export interface Stored {
  readonly labels: Labels;
  /** Time between samples in milliseconds. */
  readonly step: number;
  /** Series with the same function share their chunks. */
  readonly value: (at: number) => number;
}

const shared = new Map<string, (at: number) => number>();

/** One function for each course and variant. */
const valuesOf = (course: Course | { readonly kind: 'noise' }, variant: number): ((at: number) => number) => {
  const late = variant * 7_000;
  const of = (): ((at: number) => number) => {
    switch (course.kind) {
      case 'constant':
        return () => course.value;
      case 'opened':
        return (at) => Math.floor((at - late) / (10 * MINUTE)) * 600 + late / 1000;
      case 'noise':
        return (at) => 5 + Math.sin(at / MINUTE + variant);
      case 'counter': {
        const period = course.rare ? 10 * MINUTE : MINUTE;
        return (at) => course.step * (Math.floor((at - late) / period) % 100_000);
      }
    }
  };
  const key = JSON.stringify(course.kind === 'constant' ? course : [course, variant]);
  const known = shared.get(key) ?? of();
  shared.set(key, known);
  return known;
};

/** As the groups of the rules are evaluated. */
const EVERY = { '30s': MINUTE / 2, '1m': MINUTE, '2m': 2 * MINUTE, '4m': 4 * MINUTE, '15m': 15 * MINUTE } as const;

/** The labels of a recorded series, from the level in its name. */
const levels: Readonly<Record<string, (tools: number) => readonly (readonly [string, string])[]>> = {
  tool: (tools) => toolNames(tools).map((tool) => ['gen_ai_tool_name', tool] as const),
  error: () => [['error_type', 'network'] as const],
  status: () =>
    ['active', 'paused_budget', 'paused_systemic'].map((value) => ['breakerbox_session_state', value] as const),
  from: () => ['closed', 'open', 'half_open'].map((value) => ['breakerbox_state_from', value] as const),
  to: () => ['closed', 'open', 'half_open'].map((value) => ['breakerbox_state_to', value] as const),
  state: () => ['closed', 'open', 'half_open'].map((value) => ['breakerbox_state', value] as const),
  outcome: () => ['success', 'failure', 'ignored'].map((value) => ['breakerbox_outcome', value] as const),
  reason: () => ['closed', 'open'].map((value) => ['breakerbox_reason', value] as const),
  le: () =>
    [...Array.from({ length: 14 }, (_, power) => `${2 ** power / 100}`), '+Inf'].map((le) => ['le', le] as const),
  decision: () => ['call', 'probe', 'skip', 'pause'].map((value) => ['breakerbox_decision', value] as const),
};

const courseOf = (name: string, troubled: boolean): Course | { readonly kind: 'noise' } => {
  if (/executions|started|lived|p95|decisions|outcomes|bucket/.test(name)) return { kind: 'noise' };
  if (/circuits:sum|sessions:sum|sessions_seen/.test(name)) return { kind: 'constant', value: 1 };
  if (name.includes('opened_time')) return { kind: 'opened' };
  return { kind: 'constant', value: Number(troubled) };
};

/** Series that a rule records only for a tool in an outage or its agent, or for an agent that comes and goes. */
const isSparse = (name: string, labels: readonly (readonly [string, string])[]): boolean =>
  /state:worst|tool_state:|(?<!started:)grown|out_of_use|_per_|failures|openings:|p95_5m|_slow$|_paused:|systemic|come_and_go/.test(
    name,
  ) ||
  (name.includes('agent_tool_decision') && labels.some(([, value]) => /^(probe|skip|pause|open)$/.test(value)));

/** The series that the rules record. Those by error exist only for a tool in an outage. */
const recorded = (size: Size): readonly Stored[] =>
  RECORDINGS.flatMap(({ key, every }) => {
    const name = RECORDED[key];
    const [level = ''] = name.split(':');
    const kinds = level.split('_').filter((kind) => !['job', 'instance', 'agent'].includes(kind));
    return Array.from({ length: size.agents }, (_, agent) => agent)
      .filter((agent) => !kinds.includes('error') || isTroubled(agent))
      .filter((agent) => level.includes('agent') || agent === 0)
      .flatMap((agent) => {
        const own: [string, string][] = level.includes('agent')
          ? [
              ['gen_ai_agent_name', agentName(agent)],
              ...(level.includes('instance') ? [['instance', instanceOf(agent)] as [string, string]] : []),
              ['job', JOB],
            ]
          : [];
        const sets = kinds.reduce<[string, string][][]>(
          (found, kind) =>
            found.flatMap((labels) =>
              (levels[kind]?.(size.tools) ?? [])
                .filter(([, value]) => !kinds.includes('error') || kind !== 'tool' || value === BROKEN)
                .map(([label, value]): [string, string][] => [...labels, [label, value]]),
            ),
          [own],
        );
        return sets.flatMap((labels): readonly Stored[] => {
          const broken = isTroubled(agent) && (!kinds.includes('tool') || labels.some(([, value]) => value === BROKEN));
          if (!broken && isSparse(name, labels)) return [];
          return [
            {
              labels: [['__name__', name] as const, ...labels].toSorted(([a], [b]) => (a < b ? -1 : 1)),
              step: EVERY[every ?? '30s'],
              value: valuesOf(courseOf(name, broken), agent % VARIANTS),
            },
          ];
        });
      });
  });

/** What Prometheus writes about the alerts that the outages fire. */
const alerts = (size: Size): readonly Stored[] =>
  Array.from({ length: size.agents }, (_, agent) => agent)
    .filter(isTroubled)
    .flatMap((agent) =>
      ['ALERTS', 'ALERTS_FOR_STATE'].map((name) => ({
        labels: [
          ['__name__', name] as const,
          ['alertname', 'BreakerboxCircuitOpen'] as const,
          ...(name === 'ALERTS' ? [['alertstate', 'firing'] as const] : []),
          ['gen_ai_agent_name', agentName(agent)] as const,
          ['gen_ai_tool_name', BROKEN] as const,
          ['job', JOB] as const,
          ['severity', 'warning'] as const,
        ],
        step: SCRAPE,
        value: valuesOf({ kind: 'constant', value: 1 }, 0),
      })),
    );

/** Every series: of the agents, of the rules, and of the alerts. */
export const allSeries = (shape: Shape, size: Size): readonly Stored[] => [
  ...Array.from({ length: size.agents }, (_, agent) =>
    ofAgent(shape, agent).map(({ labels, course }) => ({
      labels,
      step: SCRAPE,
      value: valuesOf(course, agent % VARIANTS),
    })),
  ).flat(),
  ...recorded(size),
  ...alerts(size),
];

const inBlock = (stored: readonly Stored[], from: number, to: number): readonly BlockSeries[] => {
  const chunks = new Map<(at: number) => number, Map<number, readonly Chunk[]>>();
  return stored.map(({ labels, step, value }) => {
    const bySteps = chunks.get(value) ?? new Map<number, readonly Chunk[]>();
    chunks.set(value, bySteps);
    const known = bySteps.get(step) ?? chunksOf(value, Math.ceil(from / step) * step, to - 1, step);
    bySteps.set(step, known);
    return { labels, chunks: known };
  });
};

/** How much of the end is written to the memory of the running Prometheus, as its newest samples are: all that a view of 1 h reads. */
export const IN_MEMORY = 70 * MINUTE;

/** What rules and panels read over days. */
const READ_OVER_DAYS = ['breakerbox_sessions', RECORDED.sessions, RECORDED.p95Sampled] as const;

/**
 * Writes a week for what reads a week, and a day for the rest, up to {@link IN_MEMORY} before `end`: every 15 s, as scraped.
 * @param end Unix time in milliseconds, a multiple of 15 s
 */
export const writeHistory = (data: string, stored: readonly Stored[], end: number): void => {
  const days = stored.filter(({ labels }) => READ_OVER_DAYS.some((name) => name === labels[0]?.[1]));
  const [day, recent, head] = [end - 24 * HOUR - HOUR, end - 4 * HOUR, end - IN_MEMORY] as const;
  writeBlock(data, 1, inBlock(days, end - 7 * 24 * HOUR - HOUR, day));
  writeBlock(data, 2, inBlock(stored, day, recent));
  writeBlock(data, 3, inBlock(stored, recent, head));
};
