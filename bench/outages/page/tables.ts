import { table } from '../../src/print.ts';
import { HABITS } from '../agent/habits.ts';
import { FRAMEWORKS, HEADLINE_FAULT, protectionOf } from '../table/cells.ts';
import { expectations } from '../table/headlines.ts';
import { type CellResult, cellOf, isWorse, type OutageResults } from '../table/results.ts';
import type { Estimate } from '../table/statistics.ts';
import { FAULTS } from '../world/faults.ts';

const number = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const withInterval = (of: Estimate | undefined, digits = 0, factor = 1): string =>
  of === undefined ? '-' : `${number(factor * of.mean, digits)} ± ${number(factor * of.half, digits)}`;

const WORSE = ' ▼';

const success = (cell: CellResult): string => `${withInterval(cell.success, 1, 100)}${isWorse(cell) ? WORSE : ''}`;

/** The columns of the tables, from left to right. */
const COLUMNS: readonly { readonly title: string; show(cell: CellResult): string }[] = [
  { title: 'tasks done, %', show: success },
  { title: 'calls into a dead tool', show: ({ deadCalls }) => withInterval(deadCalls, 1) },
  { title: 'tokens wasted', show: ({ wastedTokens }) => withInterval(wastedTokens) },
  { title: 'tokens after the first failure', show: ({ tokensAfterFailure }) => withInterval(tokensAfterFailure) },
  { title: 'seconds after it', show: ({ secondsAfterFailure }) => withInterval(secondsAfterFailure) },
  { title: 'good calls refused', show: ({ goodRejected }) => withInterval(goodRejected, 1) },
  { title: 'pauses', show: ({ pauses }) => withInterval(pauses, 2) },
  { title: 'recovery noticed after, s', show: ({ recoverySeconds }) => withInterval(recoverySeconds) },
  { title: 'cents', show: ({ dollars }) => withInterval(dollars, 1, 100) },
];

const SHORT = [0, 1, 2, 5, 6].map((index) => COLUMNS[index] as (typeof COLUMNS)[number]);

const protectionText = ({ framework, protection }: CellResult): string => protectionOf(framework, protection).text;

type Rows = readonly (readonly string[])[];

const rowsOf = (cells: readonly CellResult[], columns: typeof COLUMNS): Rows => [
  ['', ...columns.map(({ title }) => title)],
  ...cells.map((cell) => [protectionText(cell), ...columns.map(({ show }) => show(cell))]),
];

const markdown = ([head = [], ...rows]: Rows): string =>
  [head, ['---', ...head.slice(1).map(() => '--:')], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

interface Section {
  readonly title: string;
  readonly rows: Rows;
}

const usual = ({ cells }: OutageResults, framework: string, fault: string): readonly CellResult[] =>
  cells.filter((cell) => cell.framework === framework && cell.fault === fault && cell.habit === 'usual');

const sections = (results: OutageResults): readonly Section[] =>
  FRAMEWORKS.flatMap(({ id, text }, index) =>
    FAULTS.map((fault) => ({
      title: `${text}: ${fault.text}`,
      rows: rowsOf(usual(results, id, fault.id), index === 0 ? COLUMNS : SHORT),
    })).filter(({ rows }) => rows.length > 1),
  );

const habitSection = ({ cells }: OutageResults): Section => {
  const some = cells.filter(({ framework, fault }) => framework === 'ai-sdk' && fault === HEADLINE_FAULT);
  const protections = ['none', 'opossum', 'cockatiel', 'breakerbox-map'];
  const of = (habit: string, protection: string) =>
    some.find((cell) => cell.habit === habit && cell.protection === protection);
  return {
    title:
      'How the result changes with the habits of the agent (AI SDK, one dead tool): tasks done in %, and tokens wasted',
    rows: [
      ['', ...protections.map((protection) => protectionOf('ai-sdk', protection).text)],
      ...HABITS.filter(({ id }) => of(id, 'none')).map(({ id, text }) => [
        text,
        ...protections.map((protection) => {
          const cell = of(id, protection);
          return cell === undefined ? '-' : `${success(cell)}; ${withInterval(cell.wastedTokens)}`;
        }),
      ]),
    ],
  };
};

export const terminalTables = (results: OutageResults): string =>
  [...sections(results), habitSection(results)].map(({ title, rows }) => `${title}\n${table(rows)}`).join('\n\n');

export const pageTables = (results: OutageResults): string =>
  [...sections(results), habitSection(results)]
    .map(({ title, rows }) => `### ${title}\n\n${markdown(rows)}`)
    .join('\n\n');

const expected = (results: OutageResults): Rows => [
  ['expected', 'found', ''],
  ...expectations(results.cells).map(({ says, found, met }) => [says, found, met ? 'met' : '**not met**']),
];

export const expectationText = (results: OutageResults): string => table(expected(results));
export const expectationTable = (results: OutageResults): string => markdown(expected(results));

const percent = (of: Estimate): string => `${number(100 * of.mean, 0)} %`;

/** The second of the README's two sentences. */
export const readmeSentence = ({ cells }: OutageResults): string => {
  const dead = (protection: string) => percent(cellOf(cells, { protection, fault: HEADLINE_FAULT }).success);
  return `With one dead tool that another can replace, ${dead('breakerbox-map')} of the tasks were done with a capability map, ${dead('opossum-fallback')} with opossum and a fallback in code, and ${dead('none')} without protection.`;
};
