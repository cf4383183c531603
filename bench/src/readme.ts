import { fileURLToPath } from 'node:url';
import { exact, figure } from './print.ts';
import type { CaseResult, Results, Row, Verdict } from './results.ts';

export const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));
export const README = fileURLToPath(new URL('../../README.md', import.meta.url));

const BEGIN = '<!-- bench:begin -->';
const END = '<!-- bench:end -->';

/** A line of the table: a case, and the rows of it that stand in the columns. */
interface Line {
  readonly title: string;
  /** case/sdk, as in the results. */
  readonly of: string;
  readonly hand: string | undefined;
  readonly guard: string | undefined;
  /** Rows of the peers; what they don't do is left out. */
  readonly peers: readonly (string | undefined)[];
}

const PEERS = ['cockatiel', 'opossum', 'opossum-prometheus'];
const CALLS = { hand: 'hand', guard: 'guard', peers: PEERS } as const;

const LINES: readonly Line[] = [
  { ...CALLS, title: 'a call that succeeds, no SDK', of: 'closed/none' },
  { ...CALLS, title: 'metrics on', of: 'closed/metrics' },
  { ...CALLS, title: "metrics on, by the application's own SDK", of: 'closed/metrics-own-sdk' },
  { ...CALLS, title: 'metrics and a span that is not sampled', of: 'closed/unsampled', hand: 'hand-context' },
  { ...CALLS, title: 'metrics and a sampled span', of: 'closed/sampled', hand: 'hand-context' },
  { ...CALLS, title: 'a call while the circuit is open, no SDK', of: 'open/none', hand: 'acquire' },
  { ...CALLS, title: 'and its text is read', of: 'open/none', hand: 'acquire-message', guard: 'guard-message' },
  { ...CALLS, title: 'metrics and a sampled span', of: 'open/sampled', hand: 'acquire' },
  { ...CALLS, title: 'a call that fails, no SDK', of: 'failure/none' },
  { ...CALLS, title: 'metrics and a sampled span', of: 'failure/sampled' },
  { ...CALLS, title: 'a session: 20 circuits made, used once, ended; no SDK', of: 'session/none' },
  { ...CALLS, title: 'memory of a closed circuit', of: 'memory/none', hand: 'circuit', guard: undefined },
];

const TIMES = ' ×';
const NONE = '–';

const cell = (rows: readonly Row[], id: string | undefined): string => {
  const ratio = rows.find((row) => row.id === id)?.ratios.cockatiel?.median;
  return ratio === undefined ? NONE : `${figure(ratio)}${TIMES}`;
};

const UNIT = { ns: 'ns', bytes: 'bytes', ms: 'ms' } as const;

const line = ({ title, of, hand, guard, peers: [, ...others] }: Line, cases: readonly CaseResult[]): string => {
  const found = cases.find(({ id, sdk }) => `${id}/${sdk}` === of);
  const cockatiel = found?.rows.find((row) => row.id === 'cockatiel');
  if (found === undefined || cockatiel === undefined)
    throw new Error(`README's table wants ${of}, and the results have none. Run all cases.`);
  const { rows, unit } = found;
  const cells = [
    cell(rows, hand),
    cell(rows, guard),
    `${figure(cockatiel.median)} ${UNIT[unit]}`,
    ...others.map((id) => cell(rows, id)),
  ];
  return `| ${[title, ...cells].join(' | ')} |`;
};

const INTRO = `What a call costs, itself included, beside the circuit breakers that one would take otherwise. The peers keep no failure budget, correlate nothing and
classify nothing; cockatiel and opossum alone have no metrics, and none of them has spans. \`guard()\` classifies what comes back, looks for
calls that repeat themselves, and gives the tool its context and signal. With spans, the call by hand runs in its span's context, as documented.
A refusal of the peers makes an error with its stack, some 2 µs; ours has none, and makes its text when it is read.`;

const MEASURED = `\`pnpm bench\` measures it where you are: in one run, everybody in the same processes and taking turns. [\`bench/\`](bench/README.md) says how each is
set up and what is not measured, and has every number with its spread.`;

const MIB = 2 ** 20;
const MB = 1e6;

const factOf = (cases: readonly CaseResult[], id: string, row: string, fact: string): number => {
  const rows = cases.find((one) => one.id === id)?.rows;
  return rows?.find((one) => one.id === row)?.facts?.[fact] ?? Number.NaN;
};

/** What is no call: sessions through one process, and a scrape. */
const atLarge = (cases: readonly CaseResult[]): string => {
  const fact = (id: string, row: string, name: string) => factOf(cases, id, row, name);
  const scrapes = cases.find(({ id }) => id === 'scrape')?.rows ?? [];
  const took = (row: string) => figure(scrapes.find(({ id }) => id === row)?.median ?? Number.NaN);
  const heap = (id: string, row: string, name: string) => `${figure(fact(id, row, name) / MIB)} MiB`;
  const heaps = (id: string, row: string) =>
    `${heap(id, row, 'firstHeapBytes')} after the first tenth of them and ${heap(id, row, 'heapBytes')} at the end`;
  return [
    `${figure(fact('sessions', 'guard', 'sessions'))} sessions of 20 guarded tools, metrics on, 1,000 alive at any time, go through one process at`,
    `${figure(fact('sessions', 'guard', 'perSecond'))} a second of processor time; its heap is ${heaps('sessions', 'guard')}.`,
    `With ${figure(fact('ended', 'hand', 'sessions'))} short ones it is ${heaps('ended', 'hand')}.`,
    `A scrape with 200 tools × 5 agents, ${figure(fact('scrape', 'start-telemetry', 'series'))} series, takes ${took('start-telemetry')} ms and ${figure(fact('scrape', 'start-telemetry', 'bytes') / MB)} MB, on a prom-client registry ${took('prom-client')} ms;`,
    `opossum-prometheus has ${figure(fact('scrape', 'opossum-prometheus', 'series'))} series, and takes ${took('opossum-prometheus')} ms and ${figure(fact('scrape', 'opossum-prometheus', 'bytes') / MB)} MB.`,
  ].join('\n');
};

const miss = ({ says, measured, limit, floor }: Verdict): string => {
  const parts = floor?.parts.map(({ title, median }) => `${title} ${figure(median)} ns`).join(', ');
  const why =
    floor &&
    `; the parts that nobody can do without (${parts}) cost ${figure(floor.median)} ns, and it is ${figure(floor.above)} ns above them`;
  return `- missed: ${says}. Measured ${exact(measured)}, limit ${exact(limit)}${why ?? ''}.`;
};

/** How many of the targets are met, and those that aren't with their floor. */
const standing = (targets: readonly Verdict[]): string => {
  const missed = targets.filter(({ met }) => !met);
  if (missed.length === 0) return `All ${targets.length} targets that were set for it are met.`;
  return [
    `Of ${targets.length} targets that were set for it, ${targets.length - missed.length} are met:`,
    '',
    ...missed.map(miss),
  ].join('\n');
};

/** What stands between the markers, in Markdown. */
export const table = ({ cases, targets, machine, date }: Results): string =>
  [
    INTRO,
    '',
    `| times cockatiel | \`acquire\`, \`settle\` | \`guard()\` | cockatiel ${machine.versions.cockatiel} | opossum ${machine.versions.opossum} | opossum + opossum-prometheus |`,
    '|---|--:|--:|--:|--:|--:|',
    ...LINES.map((one) => line(one, cases)),
    '',
    `Medians of a run on ${date}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores; less is cheaper. ${MEASURED}`,
    '',
    atLarge(cases),
    '',
    standing(targets),
  ].join('\n');

/** The README with the table of these results between its markers. */
export const withTable = (readme: string, results: Results): string => {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end < begin)
    throw new Error(
      `README.md has no ${BEGIN} … ${END}. Put them where the table is to stand, then run the same again.`,
    );
  return `${readme.slice(0, begin)}${BEGIN}\n${table(results)}\n${readme.slice(end)}`;
};
