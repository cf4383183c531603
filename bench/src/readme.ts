import { about, figure, kib, micro, milli } from './figures.ts';
import type { CaseResult, Results, Row } from './results.ts';

/** A line of the overview: a case, and its rows in the columns. A column without a measurement shows a dash. */
interface Line {
  readonly title: string;
  /** case/sdk, as in the results. */
  readonly of: string;
  readonly hand: string;
  readonly context?: string;
  readonly guard?: string;
  readonly peers?: readonly string[];
}

const PEERS = ['cockatiel', 'opossum', 'opossum-prometheus'];
const CALL = { hand: 'hand', context: 'hand-context', guard: 'guard', peers: PEERS } as const;
const OPEN = { hand: 'acquire', guard: 'guard', peers: PEERS } as const;

const LINES: readonly Line[] = [
  { title: 'a call that succeeds, alone', of: 'closed/none', hand: 'bare' },
  { ...CALL, title: 'a call that succeeds, no OpenTelemetry SDK', of: 'closed/none' },
  { ...CALL, title: 'a call that succeeds, metrics on', of: 'closed/metrics' },
  { ...CALL, title: "a call that succeeds, metrics by the application's own SDK", of: 'closed/metrics-own-sdk' },
  { ...CALL, title: 'a call that succeeds, metrics and a span that is not sampled', of: 'closed/unsampled' },
  { ...CALL, title: 'a call that succeeds, metrics and a sampled span', of: 'closed/sampled' },
  { ...OPEN, title: 'a call that is rejected, no SDK', of: 'open/none' },
  {
    title: 'a call that is rejected, no SDK, and the text for the model is read',
    ...{ of: 'open/none', hand: 'acquire-message', guard: 'guard-message', peers: PEERS },
  },
  { title: 'a call that fails, alone', of: 'failure/none', hand: 'bare' },
  { ...CALL, title: 'a call that fails, no SDK', of: 'failure/none' },
  { ...CALL, title: 'a call that fails, metrics and a sampled span', of: 'failure/sampled' },
];

const NONE = '–';

/** @throws Error if the results have no such row, because they are older or of some cases only. */
const rowOf = (cases: readonly CaseResult[], of: string, id: string): Row => {
  const row = cases.find((one) => `${one.id}/${one.sdk}` === of)?.rows.find((one) => one.id === id);
  if (row === undefined)
    throw new Error(
      `README.md shows the row ${id} of ${of}, but the results have no such row. Run "npm run bench -- --write".`,
    );
  return row;
};

const lineText = ({ title, of, hand, context, guard, peers = [] }: Line, cases: readonly CaseResult[]): string => {
  const ids = [hand, context, guard, ...PEERS.map((id) => peers.find((one) => one === id))];
  const cells = ids.map((id) => (id === undefined ? NONE : micro(rowOf(cases, of, id))));
  return `| ${[title, ...cells].join(' | ')} |`;
};

const LEGEND = `Microseconds for one call, including the tool itself. *By hand* is \`acquire\` and \`settle\`. *In its context* runs the call inside
\`context.with(permit.context, …)\`, so that the tool's spans nest under the decision's. \`guard()\` always does that; it also classifies the result
and looks for repeated calls. cockatiel and opossum have no spans, no failure budget and no classifier, and without opossum-prometheus no metrics.
They reject a call with an error that has a stack (about 2 µs). Ours has no stack, and builds its text when it is read.`;

/** The cases that are not single calls: many callers at a probe, sessions, memory, and a scrape. */
const atLarge = (cases: readonly CaseResult[]): readonly string[] => {
  const of = (name: string) => (id: string) => rowOf(cases, name, id);
  const [probe, session, memory, scrape] = [
    of('probe/none'),
    of('session/none'),
    of('memory/none'),
    of('scrape/metrics'),
  ];
  const churn = of('sessions/metrics')('guard');
  const ended = of('ended/none')('hand');
  const fact = ({ facts = {} }: Row, name: string) => facts[name] ?? Number.NaN;
  const mib = (row: Row, name: string) => `${about(fact(row, name) / 2 ** 20)} MiB`;
  const heaps = (row: Row) =>
    `${mib(row, 'firstHeapBytes')} after the first tenth of them, ${mib(row, 'heapBytes')} at the end`;
  const mb = (id: string) => `${about(fact(scrape(id), 'bytes') / 1e6)} MB`;
  const series = (id: string) => `${about(fact(scrape(id), 'series'))} series`;
  return [
    `- 1,000 callers at once, one of whom probes: ${micro(probe('guard'))} µs each through \`guard()\`, cockatiel ${micro(probe('cockatiel'))} µs, opossum ${micro(probe('opossum'))} µs. Breakerbox and opossum let one caller reach the tool, cockatiel lets all ${figure(fact(probe('cockatiel'), 'toolCalls'))}.`,
    `- A session that uses 20 tools once each, and ends: ${micro(session('hand'))} µs by hand, ${micro(session('guard'))} µs through \`guard()\`; 20 cockatiel circuits made and used ${micro(session('cockatiel'))} µs, 20 opossum circuits ${micro(session('opossum'))} µs. An application usually makes the peers' circuits once per process. Then a session costs them 20 calls.`,
    `- In memory: a session with one tool in use ${kib(memory('session-one'))}, with 20 tools ${kib(memory('session-used'))}; a cockatiel circuit ${kib(memory('cockatiel'))}, an opossum circuit ${kib(memory('opossum'))}, and with its metrics ${kib(memory('opossum-prometheus'))}.`,
    `- ${figure(fact(churn, 'sessions'))} sessions of 20 guarded tools through one process, metrics on: ${about(fact(churn, 'perSecond'))} per second of processor time; heap ${heaps(churn)}. ${figure(fact(ended, 'sessions'))} short ones: ${heaps(ended)}.`,
    `- A scrape of 200 tools × 5 agents, ${series('start-telemetry')}: ${milli(scrape('start-telemetry'))}, ${mb('start-telemetry')}; on a prom-client registry ${milli(scrape('prom-client'))}. opossum-prometheus has ${series('opossum-prometheus')}: ${milli(scrape('opossum-prometheus'))}, ${mb('opossum-prometheus')}.`,
  ];
};

/** The table of all calls, and the other cases: for bench/README.md. */
export const overviewText = ({ cases, machine }: Results): string =>
  [
    '### Overview',
    '',
    `| µs | by hand | in its context | \`guard()\` | cockatiel ${machine.versions.cockatiel} | opossum ${machine.versions.opossum} | opossum + opossum-prometheus |`,
    '|---|--:|--:|--:|--:|--:|--:|',
    ...LINES.map((one) => lineText(one, cases)),
    '',
    LEGEND,
    '',
    ...atLarge(cases),
  ].join('\n');

/** The rows of the repository's README. */
const SHORT: readonly (readonly [title: string, of: string])[] = [
  ['a call that succeeds', 'closed/none'],
  ['a call that succeeds, with metrics', 'closed/metrics'],
  ['a call that is rejected', 'open/none'],
  ['a call that fails', 'failure/none'],
];

/** The text between the markers of the repository's README, in Markdown. */
export const readmeText = ({ cases, machine, date }: Results): string => {
  const { cockatiel, opossum } = machine.versions;
  const cells = (of: string) => ['guard', ...PEERS].map((id) => micro(rowOf(cases, of, id)));
  return [
    `| µs for one call | \`guard()\` | cockatiel ${cockatiel} | opossum ${opossum} | opossum + opossum-prometheus |`,
    '|---|--:|--:|--:|--:|',
    ...SHORT.map(([title, of]) => `| ${[title, ...cells(of)].join(' | ')} |`),
    '',
    `Medians of one run on ${date}: Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores. Values that differ by less than a fifth are equal within the noise.
[\`bench/\`](bench/README.md) has every number and every target, met and missed; \`npm run bench\` measures on your machine.`,
  ].join('\n');
};
