import { readFileSync } from 'node:fs';
import { kib, micro, milli } from '../../bench/src/figures.ts';
import { withMarked } from '../../bench/src/marked.ts';
import type { Spread } from '../../bench/src/stats.ts';

/* The costs in docs/production.md, from bench/results.json: the time of a whole call, by what is switched on. README.md compares them. */

interface Row extends Spread {
  readonly id: string;
}
interface CaseResult {
  readonly id: string;
  readonly sdk: string;
  readonly rows: readonly Row[];
}
/** What is read of the results. */
interface Results {
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly node: string };
  readonly cases: readonly CaseResult[];
}

const RESULTS: Results = JSON.parse(readFileSync(new URL('../../bench/results.json', import.meta.url), 'utf8'));

interface Line {
  readonly title: string;
  readonly of: string;
  /** The rows of the case in the columns. */
  readonly hand: string;
  readonly context?: string;
  readonly guard: string;
}

const CALL = { hand: 'hand', context: 'hand-context', guard: 'guard' } as const;
const REJECTED = { hand: 'acquire', guard: 'guard' } as const;

const LINES: readonly Line[] = [
  { ...CALL, title: 'a call that succeeds, no OpenTelemetry SDK', of: 'closed/none' },
  { ...CALL, title: 'the same, metrics on', of: 'closed/metrics' },
  { ...CALL, title: "the same, metrics by the application's own SDK", of: 'closed/metrics-own-sdk' },
  { ...CALL, title: 'the same, metrics and a span that is not sampled', of: 'closed/unsampled' },
  { ...CALL, title: 'the same, metrics and a sampled span', of: 'closed/sampled' },
  { ...REJECTED, title: 'a call that is rejected, no SDK', of: 'open/none' },
  {
    title: 'the same, and the text for the model is read',
    of: 'open/none',
    hand: 'acquire-message',
    guard: 'guard-message',
  },
  { ...REJECTED, title: 'a call that is rejected, metrics and a sampled span', of: 'open/sampled' },
  { ...CALL, title: 'a call that fails, no SDK', of: 'failure/none' },
  { ...CALL, title: 'the same, metrics and a sampled span', of: 'failure/sampled' },
];

const rowOf = (of: string, id: string): Row => {
  const found = RESULTS.cases.find((one) => `${one.id}/${one.sdk}` === of);
  if (!found)
    throw new Error(`bench/results.json has no case ${of}, which docs/reference/cost.ts asks for. Run all cases.`);
  const row = found.rows.find((one) => one.id === id);
  if (!row) throw new Error(`bench/results.json has no row ${id} in ${of}, which docs/reference/cost.ts asks for.`);
  return row;
};

/** The table and the list, with a line that says where it was measured. */
const costTable = (): string => {
  const rows = LINES.map(({ title, of, hand, context, guard }) => {
    const cells = [hand, context, guard].map((id) => (id === undefined ? '–' : `${micro(rowOf(of, id))} µs`));
    return `| ${[title, ...cells].join(' | ')} |`;
  });
  const memory = (id: string) => kib(rowOf('memory/none', id));
  const { date, machine } = RESULTS;
  return [
    '| | by hand | in its context | `guard()` |',
    '|---|--:|--:|--:|',
    ...rows,
    '',
    '*By hand* is `acquire` and `settle`. *In its context* has the call inside `context.with(permit.context, …)`, which only traces need. Beside the',
    'calls:',
    '',
    `- a session in memory: with one tool in use ${memory('session-one')}, with 20 tools ${memory('session-used')}`,
    `- a scrape of 200 tools × 5 agents: ${milli(rowOf('scrape/metrics', 'start-telemetry'))}`,
    '',
    `Medians, with no more digits than their spread allows. The call itself and its \`await\` are included. ${machine.cpu}, Node ${machine.node}, ${date.slice(0, 10)}.`,
  ].join('\n');
};

/** The page with the table between its markers. */
export const withCost = (page: string): string => withMarked(page, 'cost', costTable(), 'docs/production.md');
