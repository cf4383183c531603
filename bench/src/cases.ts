import type { Case, Pace, Sdk } from './contest.ts';

const made = (
  id: string,
  title: string | ((pace: Pace) => string),
  unit: Case['unit'],
  sdks: readonly Sdk[],
  once = false,
): Case => ({
  ...{ id, unit, sdks, once },
  title: typeof title === 'string' ? () => title : title,
  load: () => import(`./cases/${id}.ts`),
});

/** Everything that is measured, in the order of the report. */
export const CASES: readonly Case[] = [
  made('closed', 'A call that succeeds', 'ns', ['none', 'metrics', 'metrics-own-sdk', 'unsampled', 'sampled']),
  made('open', 'A call while the circuit is open', 'ns', ['none', 'metrics', 'sampled']),
  made('failure', 'A call that fails', 'ns', ['none', 'metrics', 'sampled']),
  made('window', 'A call that fails, with nothing and with 100,000 calls in the window', 'ns', ['none']),
  made('probe', 'One probe under 1,000 callers, for each of them', 'ns', ['none']),
  made('session', 'A session with 20 tools made, used and ended', 'ns', ['none', 'metrics']),
  made('memory', ({ things }) => `Memory of one, at ${things.toLocaleString('en')} of each`, 'bytes', ['none']),
  made(
    'sessions',
    'Sessions of 20 guarded tools through one process, a hundredth of them alive at any time, each tenth with an outage',
    'ns',
    ['metrics'],
    true,
  ),
  made('ended', 'Sessions made, used twice and ended, each tenth with an outage', 'ns', ['none'], true),
  made('scrape', 'A scrape with 200 tools × 5 agents', 'ms', ['metrics']),
];

export const SDK_TITLES: Readonly<Record<Sdk, string>> = {
  none: 'no SDK',
  metrics: 'metrics on, by startTelemetry()',
  'metrics-own-sdk': "metrics on, by an SDK of the application's own",
  unsampled: 'metrics on, and a span that is not sampled',
  sampled: 'metrics on, and a sampled span',
};
