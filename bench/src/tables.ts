import { SDK_TITLES } from './cases.ts';
import { exact, figure, sure } from './figures.ts';
import { overviewText } from './readme.ts';
import { BASELINES, type CaseResult, isClose, type Results, type Row, type Verdict } from './results.ts';

/*
 * The tables of bench/README.md: every row of every case with its spread, and every target with its floor.
 */

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const TIMES = '× ';
const NONE = '–';

const rowText = (row: Row, bases: readonly (typeof BASELINES)[number][]): string =>
  line([
    row.title,
    figure(row.median),
    `${figure(row.p25)} – ${figure(row.p75)}`,
    ...bases.map((base) => (row.ratios[base] === undefined ? NONE : sure(row.ratios[base]))),
  ]);

const factsText = (title: string, facts: Readonly<Record<string, number>>): string =>
  `- ${title}: ${Object.entries(facts)
    .map(([name, value]) => `\`${name}\` ${value.toLocaleString('en')}`)
    .join(', ')}`;

const caseText = ({ title, sdk, unit, rows, facts }: CaseResult): string => {
  const bases = BASELINES.filter((base) => rows.some((row) => row.ratios[base] !== undefined));
  const notes = [
    ...rows.flatMap((row) => (row.facts ? [factsText(row.title, row.facts)] : [])),
    ...(facts ? [factsText('`/metrics` at the end', facts)] : []),
  ];
  return [
    `### ${title}: ${SDK_TITLES[sdk]}`,
    '',
    line(['', unit, 'p25 – p75', ...bases.map((base) => TIMES + base)]),
    line(['---', '--:', '--:', ...bases.map(() => '--:')]),
    ...rows.map((row) => rowText(row, bases)),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
};

const floorText = ({ floor }: Verdict): string => {
  if (floor === undefined) return NONE;
  const parts = floor.parts.map(({ title, median }) => `${title} ${figure(median)}`).join(' + ');
  return `${parts}${floor.parts.length > 1 ? ` = ${figure(floor.median)}` : ''} ns; ${figure(floor.above)} ns above it`;
};

const verdictText = (one: Verdict): string =>
  line([
    one.says,
    `${one.met ? 'met' : '**missed**'}${isClose(one) ? ' narrowly' : ''}`,
    exact(one.measured),
    one.quartiles ? one.quartiles.map(exact).join(' – ') : NONE,
    exact(one.limit),
    floorText(one),
  ]);

const targetsText = (targets: readonly Verdict[]): string =>
  [
    '### The targets',
    '',
    'If there are two ways of use that differ in cost, each has a target. *Narrowly*: the limit lies between the quartiles, so another run may end differently.',
    '',
    line(['', '', 'measured', 'p25 – p75', 'limit', 'floor, and how far the row is above it']),
    line(['---', '---', '--:', '--:', '--:', '---']),
    ...targets.map(verdictText),
  ].join('\n');

/** The text between the markers of bench/README.md, in Markdown. */
export const benchText = (results: Results): string => {
  const { cases, targets, machine, date, tookSeconds } = results;
  return [
    `A run of ${tookSeconds} s on ${date}: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}, Node ${machine.node}, load ${machine.load.before} before and ${machine.load.after} after;
${Object.entries(machine.versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.
Ratios have only the digits that their spread supports.`,
    overviewText(results),
    targetsText(targets),
    ...cases.map(caseText),
  ].join('\n\n');
};
