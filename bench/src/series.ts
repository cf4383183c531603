import { createBreakerbox, type Permit, type Session } from '@breakerbox/core';
import { startTelemetry } from '@breakerbox/telemetry';
import { table } from './print.ts';

/** The most Prometheus series that a tool may have in a state. */
export const SERIES_LIMITS = { idle: 12, 'idle, with a pre-check': 15, healthy: 30, outage: 60 } as const;

type State = keyof typeof SERIES_LIMITS;
export type SeriesCounts = Readonly<Record<State, number>>;

const TOKENS = 500;

/** The first call that is not skipped. Each skip ends a turn. */
const probe = (session: Session, tool: string): Permit => {
  const permit = session.acquire(tool);
  if (permit.decision !== 'skip') return permit;
  session.step();
  return probe(session, tool);
};

/** Calls that succeed, then fail in three ways, skips, a probe that fails, and one that succeeds. */
export const outage = (session: Session, tool: string): void => {
  session.acquire(tool).settle({ outcome: 'success' });
  for (const category of ['network', 'timeout', 'server'] as const) {
    session.acquire(tool).settle({ outcome: 'failure', category, tokens: TOKENS });
  }
  probe(session, tool).settle({ outcome: 'failure', category: 'network' });
  probe(session, tool).settle({ outcome: 'success' });
  probe(session, tool).settle({ outcome: 'ignored', category: 'invalid_input' });
};

/** Counts the series of a tool in each state on a real scrape. */
export const countSeries = async (): Promise<SeriesCounts> => {
  const telemetry = startTelemetry({ serviceName: 'bench', prometheus: { port: 0 } });
  await telemetry.ready;
  const box = createBreakerbox({
    agent: 'series',
    tools: {
      idle: {},
      'idle, with a pre-check': { precheck: () => 'available' },
      healthy: {},
      outage: { fallback: 'Ask a person.' },
    },
  });
  const session = box.session();
  for (let calls = 0; calls < 100; calls += 1) session.acquire('healthy').settle({ outcome: 'success' });
  outage(session, 'outage');
  const text = await (await fetch(telemetry.metricsUrl ?? '')).text();
  await telemetry.shutdown();
  const lines = text.split('\n');
  const of = (tool: State): number => lines.filter((line) => line.includes(`gen_ai_tool_name="${tool}"`)).length;
  return {
    idle: of('idle'),
    'idle, with a pre-check': of('idle, with a pre-check'),
    healthy: of('healthy'),
    outage: of('outage'),
  };
};

/** `npm run bench -- series`. Returns the text to print. */
export const seriesReport = async (): Promise<string> => {
  const counts = await countSeries();
  const states = Object.keys(SERIES_LIMITS) as State[];
  return table([
    ['Prometheus series of one tool', 'measured', 'at most'],
    ...states.map((state) => [state, String(counts[state]), String(SERIES_LIMITS[state])]),
  ]);
};
