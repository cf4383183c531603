import { about, exact, figure, kib, micro, milli, sure } from './figures.ts';
import { type CaseResult, isClose, type Results, type Row, type Verdict } from './results.ts';

/** A line of the table: a case, and the rows of it that stand in the columns. What nobody does, or nobody measured, is left out. */
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
  { ...OPEN, title: 'a call that is refused, no SDK', of: 'open/none' },
  {
    title: 'a call that is refused, no SDK, and the text for the model is read',
    ...{ of: 'open/none', hand: 'acquire-message', guard: 'guard-message', peers: PEERS },
  },
  { title: 'a call that fails, alone', of: 'failure/none', hand: 'bare' },
  { ...CALL, title: 'a call that fails, no SDK', of: 'failure/none' },
  { ...CALL, title: 'a call that fails, metrics and a sampled span', of: 'failure/sampled' },
];

const NONE = '–';

/** @throws Error where a run of a part, or an older one, has no such row. */
const rowOf = (cases: readonly CaseResult[], of: string, id: string): Row => {
  const row = cases.find((one) => `${one.id}/${one.sdk}` === of)?.rows.find((one) => one.id === id);
  if (row === undefined)
    throw new Error(
      `README.md wants the row ${id} of ${of}, and the results have none. Run "npm run bench -- --write".`,
    );
  return row;
};

const lineText = ({ title, of, hand, context, guard, peers = [] }: Line, cases: readonly CaseResult[]): string => {
  const ids = [hand, context, guard, ...PEERS.map((id) => peers.find((one) => one === id))];
  const cells = ids.map((id) => (id === undefined ? NONE : micro(rowOf(cases, of, id))));
  return `| ${[title, ...cells].join(' | ')} |`;
};

const summary = (cases: readonly CaseResult[]): string => {
  const guarded = (sdk: string) => micro(rowOf(cases, `closed/${sdk}`, 'guard'));
  return `**Through \`guard()\` a call costs ${guarded('none')} µs, ${guarded('metrics')} µs with metrics on, and ${guarded('sampled')} µs with metrics and a sampled span.** A
tool takes milliseconds.`;
};

const LEGEND = `Microseconds for one call, itself included, beside the circuit breakers that one would take otherwise. *By hand* is \`acquire\` and \`settle\`; *in
its context* is the same with the call inside \`context.with(permit.context, …)\`, which is for traces, so that the tool's spans belong to the
decision's, and can be left out without them. \`guard()\` always gives the context, classifies what comes back, and looks for calls that repeat themselves. The
peers have no context and no spans, keep no failure budget and classify nothing; cockatiel and opossum alone have no metrics. Their refusal is
an error with a stack, some 2 µs; ours has none, and makes its text when it is read.`;

/** What is no call: the crowd at a probe, sessions, memory, and a scrape. */
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
    `- 1,000 callers at once, one of whom probes: ${micro(probe('guard'))} µs each through \`guard()\`, cockatiel ${micro(probe('cockatiel'))} µs, opossum ${micro(probe('opossum'))} µs. Ours and opossum's let one reach the tool, cockatiel's lets all ${figure(fact(probe('cockatiel'), 'toolCalls'))}.`,
    `- A session made, 20 tools used once each, and ended: ${micro(session('hand'))} µs by hand, ${micro(session('guard'))} µs through \`guard()\`; 20 circuits of cockatiel made and used ${micro(session('cockatiel'))} µs, of opossum ${micro(session('opossum'))} µs. Peers are usually made once for a process: then a session costs them 20 calls.`,
    `- In memory: a session with one tool in use ${kib(memory('session-one'))}, with 20 tools ${kib(memory('session-used'))}; a circuit of cockatiel ${kib(memory('cockatiel'))}, of opossum ${kib(memory('opossum'))}, with its series ${kib(memory('opossum-prometheus'))}.`,
    `- ${figure(fact(churn, 'sessions'))} sessions of 20 guarded tools through one process, metrics on: ${about(fact(churn, 'perSecond'))} a second of processor time; heap ${heaps(churn)}. ${figure(fact(ended, 'sessions'))} short ones: ${heaps(ended)}.`,
    `- A scrape of 200 tools × 5 agents, ${series('start-telemetry')}: ${milli(scrape('start-telemetry'))}, ${mb('start-telemetry')}; on a prom-client registry ${milli(scrape('prom-client'))}. opossum-prometheus has ${series('opossum-prometheus')}: ${milli(scrape('opossum-prometheus'))}, ${mb('opossum-prometheus')}.`,
  ];
};

/** The ratio in as few digits as say that it is above the limit. */
const ratioText = ({ measured, quartiles: [p25, p75] = [measured, measured], limit }: Verdict): string => {
  const texts = [sure({ median: measured, p25, p75 }), figure(measured)];
  return texts.find((text) => Number(text) > limit) ?? exact(measured);
};

const missText = (one: Verdict): string => {
  const is = one.quartiles === undefined ? `It is ${figure(one.measured)}` : `It is ${ratioText(one)} ×`;
  return `- ${one.says}. ${is}${isClose(one) ? ', and the limit lies within the spread' : ''}.`;
};

const LEAN = "by hand without the context, with a refusal's text unread, and a circuit weighed alone";
const FULL = 'in the context, with the text read, and the circuit weighed with its share of the session';

/** How many of the targets are met, read in the one way and in the other; a line for each that isn't. */
export const verdictsText = (targets: readonly Verdict[]): string => {
  const read = (reading: Verdict['reading']) =>
    targets.filter((one) => one.reading === undefined || one.reading === reading);
  const [lean, full] = [read('lean'), read('full')];
  const met = (all: readonly Verdict[]) => all.filter((one) => one.met).length;
  const twofold = targets.filter((one) => one.reading === 'full').length;
  const missed = targets.filter((one) => !one.met);
  const close = targets.filter((one) => one.met && isClose(one));
  return [
    `${lean.length} targets were set for it, of which ${twofold} can be read in two ways. ${met(lean)} of ${lean.length} are met ${LEAN};`,
    `${met(full)} of ${full.length} are met ${FULL}.${missed.length > 0 ? ' Missed:' : ''}`,
    ...(missed.length > 0 ? ['', ...missed.map(missText)] : []),
    ...(close.length > 0 ? ['', 'Met, with the limit within the spread, so that another run may miss it:', ''] : []),
    ...close.map((one) => `- ${one.says}.`),
  ].join('\n');
};

/** What stands between the markers of the repository's README, in Markdown. */
export const readmeText = ({ cases, targets, machine, date }: Results): string =>
  [
    summary(cases),
    '',
    `| µs | by hand | in its context | \`guard()\` | cockatiel ${machine.versions.cockatiel} | opossum ${machine.versions.opossum} | opossum + opossum-prometheus |`,
    '|---|--:|--:|--:|--:|--:|--:|',
    ...LINES.map((one) => lineText(one, cases)),
    '',
    LEGEND,
    '',
    ...atLarge(cases),
    '',
    `Medians of a run on ${date}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, with no more digits than the spread leaves standing. \`npm run bench\` measures it where
you are: in one run, everybody in the same processes and taking turns. [\`bench/\`](bench/README.md) has every number with its spread and its
ratios, the floor under each missed target, how each is set up, and what is not measured.`,
    '',
    verdictsText(targets),
  ].join('\n');
