import { metrics, trace } from '@opentelemetry/api';
import { AggregationTemporality, DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Copies, copies, homeIn, type Source } from './copies.ts';
import { SHAPE } from './process-state.ts';
import { type CellReader, openCells } from './reading.ts';
import { METRIC } from './semconv.ts';
import { newAgent, registerMetrics, registerTraces, seriesOf } from './test-support.ts';

type Copy = Awaited<ReturnType<typeof load>>;

const load = async () => {
  vi.resetModules();
  return { ...(await import('../index.ts')), ...(await import('./reading.ts')) };
};

/** A copy of a release whose cells have another shape: it finds none of ours, as none of ours finds its. */
const ofAnotherShape = async (): Promise<Copy> => {
  const key = Symbol.for(`@breakerbox/core:telemetry:${SHAPE}`);
  const globals = globalThis as Record<symbol, unknown>;
  const ours = globals[key];
  delete globals[key];
  const copy = await load();
  globals[key] = ours;
  return copy;
};

let mine: Copy;
let theirs: Copy;
let agent = '';
let undo: (() => void)[] = [];
beforeEach(async () => {
  const { sources } = copies();
  const before = new Set(sources);
  mine = await load();
  theirs = await ofAnotherShape();
  expect(sources.size).toBe(2);
  undo.push(() => {
    for (const one of sources) if (!before.has(one)) sources.delete(one);
  });
  agent = newAgent();
});
afterEach(() => {
  metrics.disable();
  trace.disable();
  for (const one of undo) one();
  undo = [];
});

const read = (insteadOfSdk: boolean, exemplars = false, by: Pick<Copy, 'openCells'> = { openCells }): CellReader => {
  const cells = by.openCells({ insteadOfSdk, exemplars });
  undo.push(() => cells.close());
  return cells;
};

const FAILURE = { error: Object.assign(new Error('down'), { status: 503 }), durationMs: 3_000 } as const;
const SUCCESS = { outcome: 'success', durationMs: 30 } as const;

/** As the reviewer did it: the same agent and tool, three times by one copy and six by the other. */
const work = (): void => {
  for (const [copy, times] of [
    [mine, 3],
    [theirs, 6],
  ] as const) {
    const session = copy.createBreakerbox({ agent, tools: { a: {} } }).session();
    for (let n = 0; n < times; n += 1) session.acquire('a').settle(SUCCESS);
  }
};

const numbersOf = (cells: CellReader, metric: (typeof METRIC)[keyof typeof METRIC], attribute: string) =>
  [...cells.numbers(metric)]
    .filter(({ attributes }) => attributes['gen_ai.agent.name'] === agent)
    .map(({ attributes, value }) => [attributes[attribute], value])
    .filter(([, value]) => value !== 0);

const durationsOf = (cells: CellReader) =>
  [...cells.histograms(METRIC.duration)].filter(({ attributes }) => attributes['gen_ai.agent.name'] === agent);

describe('copies of different shapes, to who reads the cells', () => {
  test('are one series each, with the sums of both', () => {
    const cells = read(true);
    work();
    expect(numbersOf(cells, METRIC.outcomes, 'breakerbox.outcome')).toEqual([['success', 9]]);
    expect(numbersOf(cells, METRIC.sessions, 'breakerbox.session.state')).toEqual([['active', 2]]);
    const [duration, ...others] = durationsOf(cells);
    expect(others).toEqual([]);
    expect(duration).toMatchObject({ counts: [0, 0, 9, ...Array(12).fill(0)], min: 0.03, max: 0.03 });
    expect(duration?.sum).toBeCloseTo(0.27);
    expect(cells.metrics().map(({ name }) => name)).toEqual(Object.values(METRIC).map(({ name }) => name));
    expect(cells.sinceMs(METRIC.outcomes)).toBeGreaterThan(0);
    expect(cells.sinceMs({ ...METRIC.outcomes, name: 'nobody.counts.this' })).toBe(0);
  });

  test('are the same whichever of them reads', () => {
    const readers = [read(false, false, mine), read(false, false, theirs)];
    work();
    for (const cells of readers) {
      expect(numbersOf(cells, METRIC.outcomes, 'breakerbox.outcome')).toEqual([['success', 9]]);
      expect(durationsOf(cells)).toHaveLength(1);
    }
  });

  test('of openings the last is told', () => {
    const cells = read(true);
    const opened = [5_000, 4_000].map((unixMs, copy) => {
      const clock = { now: () => 0, unixNow: () => unixMs };
      const session = [mine, theirs][copy]?.createBreakerbox({ agent, tools: { a: {} }, clock }).session();
      for (let n = 0; n < 3; n += 1) session?.acquire('a').settle(FAILURE);
      return unixMs / 1000;
    });
    expect(numbersOf(cells, METRIC.openedTime, 'error.type')).toEqual([['server', Math.max(...opened)]]);
    expect(numbersOf(cells, METRIC.circuits, 'breakerbox.state')).toEqual([['open', 2]]);
  });

  test('sessions that idle leave the gauges of both', () => {
    const cells = read(true);
    let nowMs = 0;
    const clock = { now: () => nowMs, unixNow: () => nowMs };
    for (const copy of [mine, theirs])
      copy
        .createBreakerbox({ agent, tools: { a: {} }, clock })
        .session()
        .acquire('a');
    expect(numbersOf(cells, METRIC.sessions, 'breakerbox.session.state')).toEqual([['active', 2]]);
    nowMs = 31 * 60_000;
    cells.retireIdle();
    expect(numbersOf(cells, METRIC.sessions, 'breakerbox.session.state')).toEqual([]);
  });

  test('the last exemplar of either is kept', () => {
    const spans = registerTraces();
    const cells = read(false, true);
    for (const copy of [mine, theirs]) {
      copy
        .createBreakerbox({ agent, tools: { a: {} } })
        .session()
        .acquire('a')
        .settle(FAILURE);
    }
    const ids = spans().map((span) => span.spanContext().spanId);
    expect(ids).toHaveLength(2);
    const [duration] = durationsOf(cells);
    const shown = (duration ? cells.exemplars(duration) : []).flatMap((one) => one ?? []);
    expect(shown).toMatchObject([{ value: 3 }]);
    expect(ids).toContain(shown[0]?.spanId);
    const failed = [...cells.numbers(METRIC.outcomes)].flatMap((series) => cells.exemplar(series) ?? []);
    expect(failed).toHaveLength(1);
    expect([...read(false).numbers(METRIC.outcomes)].flatMap((one) => read(false).exemplar(one) ?? [])).toEqual([]);
  });

  test('a copy that comes after the reader measures durations at once', async () => {
    const cells = read(true);
    const late = await ofAnotherShape();
    late
      .createBreakerbox({ agent, tools: { a: {} } })
      .session()
      .acquire('a')
      .settle(SUCCESS);
    expect(durationsOf(cells)).toHaveLength(1);
  });
});

describe('copies of different shapes, to an SDK', () => {
  const OUTCOMES = 'breakerbox_outcomes_total{gen_ai_tool_name="a",breakerbox_outcome="success"}';

  test('are one series each, with the sums of both', async () => {
    const { scrape } = registerMetrics();
    work();
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const lines = await scrape();
      expect(seriesOf(agent, lines, 'breakerbox_outcomes_total')).toContain(`${OUTCOMES} 9`);
      expect(seriesOf(agent, lines, 'breakerbox_sessions')).toContain(
        'breakerbox_sessions{breakerbox_session_state="active"} 2',
      );
      expect(seriesOf(agent, lines, 'gen_ai_execute_tool_duration_count')).toEqual([
        'gen_ai_execute_tool_duration_count{gen_ai_tool_name="a"} 9',
      ]);
      expect(lines.filter((line) => line.startsWith('# TYPE breakerbox_outcomes_total'))).toHaveLength(1);
    }
  });

  test('feed it nothing while somebody stands in for it', async () => {
    const { scrape } = registerMetrics();
    read(true);
    work();
    const lines = await scrape();
    expect(lines.filter((line) => line.includes(agent))).toEqual([]);
  });

  test('the other one goes on where the first was told of another SDK', async () => {
    const old = registerMetrics();
    work();
    metrics.disable();
    const { scrape } = registerMetrics();
    theirs.followProviders(); // The copy that came second is the first to follow.
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(`${OUTCOMES} 9`);
    mine.followProviders();
    expect(seriesOf(agent, await scrape(), 'breakerbox_outcomes_total')).toContain(`${OUTCOMES} 9`);
    expect(seriesOf(agent, await old.scrape(), 'breakerbox_outcomes_total')).toEqual([]);
  });

  test('differences are those of the sums', async () => {
    class DeltaReader extends MetricReader {
      constructor() {
        super({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA });
      }
      protected override async onForceFlush(): Promise<void> {}
      protected override async onShutdown(): Promise<void> {}
    }
    const reader = new DeltaReader();
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const told = async () => {
      const { resourceMetrics } = await reader.collect();
      const found = resourceMetrics.scopeMetrics
        .flatMap((scoped) => scoped.metrics)
        .find(({ descriptor }) => descriptor.name === METRIC.outcomes.name);
      if (found?.dataPointType !== DataPointType.SUM) throw new Error('no sums');
      return found.dataPoints
        .filter(({ attributes, value }) => attributes['gen_ai.agent.name'] === agent && value !== 0)
        .map(({ value }) => value);
    };
    work();
    expect(await told()).toEqual([9]);
    work();
    expect(await told()).toEqual([9]);
  });
});

describe('copies of releases that are still to come', () => {
  const series = { 'gen_ai.agent.name': 'later' };
  const release = (source: Partial<Source>): void => {
    const made: Source = {
      metrics: [],
      read: () => undefined,
      sinceMs: () => 0,
      retireIdle() {},
      readersChanged() {},
      ...source,
    };
    copies().sources.add(made);
    undo.push(() => copies().sources.delete(made));
  };

  test('are read with metrics that nobody else counts', () => {
    const metric = { ...METRIC.routes, name: 'breakerbox.new', prometheus: 'breakerbox_new_total' };
    const numbers = [{ attributes: series, value: 7 }];
    release({
      metrics: [metric],
      read: (name) => (name === metric.name ? { numbers, histograms: [] } : undefined),
      sinceMs: () => 1_000,
    });
    const cells = read(true);
    expect(cells.metrics()).toContain(metric);
    expect([...cells.numbers(metric)]).toEqual(numbers);
    expect(cells.sinceMs(metric)).toBe(1_000);
  });

  test('may have other buckets: a call is never shown faster than it was', () => {
    const exemplar = { traceId: 'a', spanId: 'b', value: 0.02, unixSeconds: 1 };
    const histograms = [
      { attributes: series, counts: [1, 2, 4, 8], sum: 20, min: 0.01, max: 9, exemplars: [undefined, exemplar] },
    ];
    release({
      metrics: [{ ...METRIC.duration, bounds: [0.01, 0.03, 100] }],
      read: (name) => (name === METRIC.duration.name ? { numbers: [], histograms } : undefined),
    });
    const cells = read(true, true);
    const [found] = [...cells.histograms(METRIC.duration)].filter(({ attributes }) => attributes === series);
    expect(found).toMatchObject({ counts: [1, 0, 2, ...Array(11).fill(0), 12], sum: 20 });
    expect(found && cells.exemplars(found)[1]).toBe(exemplar);
  });

  test('may throw at every turn, and the others are read all the same', () => {
    const thrower = () => {
      throw new Error('of another time');
    };
    release({
      metrics: [METRIC.outcomes],
      read: thrower,
      sinceMs: thrower,
      retireIdle: thrower,
      readersChanged: thrower,
    });
    const cells = read(true);
    work();
    cells.retireIdle();
    expect(numbersOf(cells, METRIC.outcomes, 'breakerbox.outcome')).toEqual([['success', 9]]);
    expect(durationsOf(cells)).toHaveLength(1);
    expect(cells.sinceMs(METRIC.outcomes)).toBeGreaterThan(0);
  });
});

test('what copies know of one another has no version: nothing here may ever be renamed, or mean something else', () => {
  const shared: Copies | undefined = (globalThis as { [key: symbol]: Copies })[
    Symbol.for('@breakerbox/core:telemetry')
  ];
  const [source] = shared?.sources ?? [];
  expect(Object.keys(shared ?? {})).toEqual(['sources', 'readers', 'feeders', 'wasRead']);
  expect(Object.keys(source ?? {})).toEqual(['metrics', 'read', 'sinceMs', 'retireIdle', 'readersChanged']);
  const cells = read(false, true);
  work();
  expect(Object.keys([...cells.numbers(METRIC.outcomes)][0] ?? {}).sort()).toEqual(['attributes', 'exemplar', 'value']);
  expect(Object.keys(durationsOf(cells)[0] ?? {}).sort()).toEqual([
    'attributes',
    'counts',
    'exemplars',
    'max',
    'min',
    'sum',
  ]);
  expect(source?.metrics.at(-1)).toEqual({ ...METRIC.duration, bounds: expect.any(Array) });
});

describe('where a copy is installed', () => {
  test.each([
    [
      'at home (file:///app/node_modules/@breakerbox/core/dist/telemetry/copies.js:110:20)',
      '/app/node_modules/@breakerbox/core',
    ],
    [
      'at home (file:///app/node_modules/plugin/node_modules/@breakerbox/core/dist/index.js:1:1)',
      '/app/node_modules/plugin/node_modules/@breakerbox/core',
    ],
    [
      'at file:///app/node_modules/.pnpm/@breakerbox+core@1.0.0/node_modules/@breakerbox/core/dist/index.js:1:1',
      '/app/node_modules/.pnpm/@breakerbox+core@1.0.0/node_modules/@breakerbox/core',
    ],
    ['at home (/repository/packages/core/src/telemetry/copies.ts:110:20)', undefined],
    ['at home (file:///app/dist/bundle.js:1:1)', undefined],
  ])('%s', (line, home) => {
    const found = homeIn(`Error\n    ${line}\n    at run (file:///x/node_modules/@breakerbox/core/dist/other.js:1:1)`);
    expect(found?.replace(/^file:\/\//, '')).toBe(home);
  });
});
