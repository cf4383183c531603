import { existsSync, readFileSync } from 'node:fs';

/*
 * What docs/production.md says of the cost, from bench/results.json: what a call takes in all, by what is switched on. README.md has the
 * same beside the peers.
 */

interface Row {
  readonly id: string;
  readonly median: number;
}
interface CaseResult {
  readonly id: string;
  readonly sdk: string;
  readonly rows: readonly Row[];
}
/** What is read of the results. */
export interface Results {
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly node: string };
  readonly cases: readonly CaseResult[];
}

const RESULTS = new URL('../../bench/results.json', import.meta.url);

/** Undefined before `pnpm bench -- --write` has been run. */
export const readResults = (): Results | undefined =>
  existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : undefined;

interface Line {
  readonly title: string;
  readonly of: string;
  /** The rows of the case in the two columns. */
  readonly hand: string | undefined;
  readonly guard: string | undefined;
  readonly show: (value: number) => string;
}

const micro = (ns: number): string => `${(ns / 1_000).toPrecision(2)} µs`;
const milli = (ms: number): string => `${ms.toPrecision(2)} ms`;
const kilo = (bytes: number): string => `${(bytes / 1_024).toPrecision(2)} KiB`;

const CALL = { hand: 'hand', guard: 'guard', show: micro } as const;

const LINES: readonly Line[] = [
  { ...CALL, title: 'a call that succeeds, no OpenTelemetry SDK', of: 'closed/none' },
  { ...CALL, title: 'the same, metrics on', of: 'closed/metrics' },
  { ...CALL, title: 'the same, and a span that is not sampled', of: 'closed/unsampled', hand: 'hand-context' },
  { ...CALL, title: 'the same, and a span that is sampled', of: 'closed/sampled', hand: 'hand-context' },
  { ...CALL, title: 'a call that is refused, no SDK', of: 'open/none', hand: 'acquire' },
  {
    ...CALL,
    title: 'the same, and its text is read',
    of: 'open/none',
    hand: 'acquire-message',
    guard: 'guard-message',
  },
  { ...CALL, title: 'a call that is refused, and a span that is sampled', of: 'open/sampled', hand: 'acquire' },
  { ...CALL, title: 'a call that fails, no SDK', of: 'failure/none' },
  { title: 'a session, in memory', of: 'memory/none', hand: 'session', guard: undefined, show: kilo },
  { title: 'a circuit, in memory', of: 'memory/none', hand: 'circuit', guard: undefined, show: kilo },
  {
    title: 'a scrape of 200 tools × 5 agents',
    of: 'scrape/metrics',
    hand: 'start-telemetry',
    guard: undefined,
    show: milli,
  },
];

const cell = (found: CaseResult, id: string | undefined, show: Line['show']): string => {
  if (id === undefined) return '–';
  const row = found.rows.find((one) => one.id === id);
  if (!row)
    throw new Error(
      `bench/results.json has no row ${id} in ${found.id}/${found.sdk}, which docs/reference/cost.ts asks for.`,
    );
  return show(row.median);
};

/** The table, with a line that says where it was measured; a sentence where nothing was. */
export const costTable = (results: Results | undefined): string => {
  if (!results) return 'Nothing is measured yet: `npm run bench -- --write` does, and `pnpm generate` puts it here.';
  const rows = LINES.map(({ title, of, hand, guard, show }) => {
    const found = results.cases.find(({ id, sdk }) => `${id}/${sdk}` === of);
    if (!found)
      throw new Error(`bench/results.json has no case ${of}, which docs/reference/cost.ts asks for. Run all cases.`);
    return `| ${title} | ${cell(found, hand, show)} | ${cell(found, guard, show)} |`;
  });
  const { date, machine } = results;
  return [
    '| | `acquire` and `settle` by hand | `guard()` |',
    '|---|---|---|',
    ...rows,
    '',
    `Medians, the call itself and its \`await\` included. ${machine.cpu}, Node ${machine.node}, ${date.slice(0, 10)}.`,
  ].join('\n');
};

const BEGIN = '<!-- cost:begin -->';
const END = '<!-- cost:end -->';

/** The page with the table in its place. */
export const withCost = (page: string, results = readResults()): string => {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (after === undefined)
    throw new Error(`docs/production.md has no ${BEGIN} … ${END}, so the cost has no place. Put both back.`);
  return `${before}${BEGIN}\n${costTable(results)}\n${END}${after}`;
};
