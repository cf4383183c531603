import { table } from '../../src/print.ts';
import { HABITS } from '../agent/habits.ts';
import { MODELS, WITH_MAP } from '../protections/breakerbox.ts';
import { FRAMEWORKS, HEADLINE_FAULT, HEADLINE_PROTECTIONS, protectionOf } from '../table/cells.ts';
import { expectations } from '../table/headlines.ts';
import { MEASURES, type Measure } from '../table/measures.ts';
import { type CellResult, cellOf, type OutageResults } from '../table/results.ts';
import type { Estimate } from '../table/statistics.ts';
import { FAULTS, PROVIDER } from '../world/faults.ts';

const number = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const withInterval = ({ mean, half }: Estimate, { digits, factor = 1 }: Measure): string =>
  `${number(factor * mean, digits)} ± ${number(factor * half, digits)}`;

/** A difference, which never reads as zero. */
const amount = ({ mean }: Estimate, { digits, factor = 1 }: Measure): string => {
  const [value, least] = [factor * mean, 10 ** -digits];
  return value < least / 2 ? `<${number(least, digits)}` : number(value, digits);
};

/** The figure. After the mark, by how much it is worse than that of another protection, at most. */
const show = (cell: CellResult, measure: Measure): string => {
  const { [measure.key]: figure, worse } = cell;
  if (figure === undefined) return '-';
  const loss = worse?.[measure.key];
  return `${withInterval(figure, measure)}${loss ? ` ▼ ${amount(loss, measure)}` : ''}`;
};

const protectionText = ({ framework, protection }: CellResult): string => protectionOf(framework, protection).text;

type Rows = readonly (readonly string[])[];

const markdown = ([head = [], ...rows]: Rows): string =>
  [head, ['---', ...head.slice(1).map(() => '--:')], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

interface Section {
  readonly title: string;
  /** Or why the section has no rows. */
  readonly rows: Rows | string;
}

const usual = ({ cells }: OutageResults, framework: string, fault: string): readonly CellResult[] =>
  cells.filter((cell) => cell.framework === framework && cell.fault === fault && cell.habit === 'usual');

const sections = (results: OutageResults): readonly Section[] =>
  FRAMEWORKS.flatMap(({ id, text, ofModels }) =>
    FAULTS.flatMap((fault): readonly Section[] => {
      const title = `${text}: ${fault.text}`;
      if (fault.id === PROVIDER && typeof ofModels === 'string') return [{ title, rows: ofModels }];
      const cells = usual(results, id, fault.id);
      const rows = cells.map((cell) => [protectionText(cell), ...MEASURES.map((measure) => show(cell, measure))]);
      return rows.length === 0 ? [] : [{ title, rows: [['', ...MEASURES.map((measure) => measure.title)], ...rows] }];
    }),
  );

const habitSection = ({ cells }: OutageResults): Section => {
  const some = cells.filter(({ framework, fault }) => framework === 'ai-sdk' && fault === HEADLINE_FAULT);
  const of = (habit: string, protection: string) =>
    some.find((cell) => cell.habit === habit && cell.protection === protection);
  const measures = MEASURES.filter(({ key }) => key === 'success' || key === 'wastedTokens');
  return {
    title:
      'How the result changes with the habits of the agent (AI SDK, one dead tool): tasks done in %, and tokens wasted',
    rows: [
      ['', ...HEADLINE_PROTECTIONS.map(({ text }) => text)],
      ...HABITS.filter(({ id }) => of(id, 'none')).map(({ id, text }) => [
        text,
        ...HEADLINE_PROTECTIONS.map((protection) => {
          const cell = of(id, protection.id);
          return cell === undefined ? '-' : measures.map((measure) => show(cell, measure)).join('; ');
        }),
      ]),
    ],
  };
};

const asText = (rows: Rows | string, print: (rows: Rows) => string): string =>
  typeof rows === 'string' ? rows : print(rows);

export const terminalTables = (results: OutageResults): string =>
  [...sections(results), habitSection(results)]
    .map(({ title, rows }) => `${title}\n${asText(rows, table)}`)
    .join('\n\n');

export const pageTables = (results: OutageResults): string =>
  [...sections(results), habitSection(results)]
    .map(({ title, rows }) => `### ${title}\n\n${asText(rows, markdown)}`)
    .join('\n\n');

/** Where another protection does better than the capability map, or than `guardModels`: by how much at most, and which one. */
export const lossTables = (results: OutageResults): string =>
  FRAMEWORKS.map(({ id, text }) => {
    const cells = FAULTS.flatMap((fault) => usual(results, id, fault.id)).filter(
      ({ protection }) => protection === WITH_MAP.id || protection === MODELS.id,
    );
    const measures = MEASURES.filter(({ key }) => cells.some(({ worse }) => worse?.[key]));
    const rows = cells.flatMap((cell) => {
      const losses = measures.map((measure) => {
        const loss = cell.worse?.[measure.key];
        return loss ? `${withInterval(loss, measure)}, ${protectionOf(id, loss.than).text}` : '';
      });
      const { text: fault = '' } = FAULTS.find((one) => one.id === cell.fault) ?? {};
      return losses.some(Boolean) ? [[fault, ...losses]] : [];
    });
    return markdown([[text, ...measures.map(({ title }) => title)], ...rows]);
  }).join('\n\n');

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
  return `In AI SDK, with one dead tool that another can replace, ${dead('breakerbox-map')} of the tasks were done with a capability map and \`scope: 'process'\`, ${dead('opossum-fallback')} with opossum and a fallback in code, and ${dead('none')} without protection.`;
};

/** Where it is in the README. */
export const README_SENTENCE = /(?:In AI SDK, w|W)ith one dead tool that another can replace, .* without protection\./;

const minutes = ({ seconds }: OutageResults): string => number(seconds / 60, 1);

/** Where the figures come from. */
export const sourceText = (results: OutageResults): string => {
  const { date, cores, cells } = results;
  const [first] = cells;
  const fewest = Math.min(...cells.map(({ runs }) => runs));
  return `The figures are from one run on ${date}, which took ${minutes(results)} minutes on ${cores} cores: ${first?.runs} seeded runs for each cell of the AI SDK with the usual habits, and ${fewest} for each other cell.`;
};

/** A reduced run on tau²-bench's own tasks. */
export const publishedText = (published: OutageResults): string => {
  const dead = (protection: string) => {
    const { mean, half } = cellOf(published.cells, { protection, fault: HEADLINE_FAULT }).success;
    return `${number(100 * mean, 0)} ± ${number(100 * half, 0)} %`;
  };
  return `The reduced run on them on ${published.date} took ${minutes(published)} minutes on ${published.cores} cores. In AI SDK, with a dead tool and a capability map, it completed ${dead('breakerbox-map')} of the tasks, with opossum and a fallback ${dead('opossum-fallback')}, and without protection ${dead('none')}.`;
};
