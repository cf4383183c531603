import type { Case, Sdk } from './contest.ts';

/** Everything that is measured, in the order of the report. */
export const CASES: readonly Case[] = [
  {
    id: 'closed',
    title: 'A call that succeeds',
    unit: 'ns',
    sdks: ['none', 'metrics', 'metrics-own-sdk', 'unsampled', 'sampled'],
    load: () => import('./cases/closed.ts'),
  },
  {
    id: 'open',
    title: 'A call while the circuit is open',
    unit: 'ns',
    sdks: ['none', 'metrics', 'sampled'],
    load: () => import('./cases/open.ts'),
  },
  {
    id: 'failure',
    title: 'A call that fails',
    unit: 'ns',
    sdks: ['none', 'metrics', 'sampled'],
    load: () => import('./cases/failure.ts'),
  },
  {
    id: 'window',
    title: 'A call that fails, with nothing and with 100,000 calls in the window',
    unit: 'ns',
    sdks: ['none'],
    load: () => import('./cases/window.ts'),
  },
  {
    id: 'probe',
    title: 'One probe under 1,000 callers, for each of them',
    unit: 'ns',
    sdks: ['none'],
    load: () => import('./cases/probe.ts'),
  },
  {
    id: 'session',
    title: 'A session with 20 tools made, used and ended',
    unit: 'ns',
    sdks: ['none', 'metrics'],
    load: () => import('./cases/session.ts'),
  },
  {
    id: 'memory',
    title: ({ things }) => `Memory of one, at ${things.toLocaleString('en')} of each`,
    unit: 'bytes',
    sdks: ['none'],
    load: () => import('./cases/memory.ts'),
  },
  {
    id: 'sessions',
    title:
      'Sessions of 20 guarded tools through one process, a hundredth of them alive at any time, each tenth with an outage',
    unit: 'ns',
    sdks: ['metrics'],
    once: true,
    load: () => import('./cases/sessions.ts'),
  },
  {
    id: 'ended',
    title: 'Sessions made, used twice and ended, each tenth with an outage',
    unit: 'ns',
    sdks: ['none'],
    once: true,
    load: () => import('./cases/ended.ts'),
  },
  {
    id: 'scrape',
    title: 'A scrape with 200 tools × 5 agents',
    unit: 'ms',
    sdks: ['metrics'],
    load: () => import('./cases/scrape.ts'),
  },
];

export const SDK_TITLES: Readonly<Record<Sdk, string>> = {
  none: 'no SDK',
  metrics: 'metrics on, by startTelemetry()',
  'metrics-own-sdk': "metrics on, by an SDK of the application's own",
  unsampled: 'metrics on, and a span that is not sampled',
  sampled: 'metrics on, and a sampled span',
};
