import { SDK_TITLES } from './cases.ts';
import { exact, figure, sure } from './figures.ts';
import { overviewText } from './readme.ts';
import { BASELINES, type CaseResult, isClose, type Results, type Row, type Verdict } from './results.ts';

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A table in Markdown, with the first column aligned left and the rest right. */
export const markdownTable = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [line(head), line(['---', ...head.slice(1).map(() => '--:')]), ...rows.map(line)].join('\n');

const NONE = '–';

/** The table of a case without its title, and the facts below it. `quote` marks the names of facts. */
export const caseCells = ({ unit, rows, facts }: CaseResult, quote: (name: string) => string) => {
  const bases = BASELINES.filter((base) => rows.some((row) => row.ratios[base] !== undefined));
  const cells = ({ title, median, p25, p75, ratios }: Row): readonly string[] => [
    ...[title, figure(median), `${figure(p25)} – ${figure(p75)}`],
    ...bases.map((base) => (ratios[base] === undefined ? NONE : sure(ratios[base]))),
  ];
  const factsText = (title: string, of: Row['facts'] = {}): string =>
    `${title}: ${Object.entries(of)
      .map(([name, value]) => `${quote(name)} ${value.toLocaleString('en')}`)
      .join(', ')}`;
  return {
    head: [unit, 'p25 – p75', ...bases.map((base) => `× ${base}`)],
    rows: rows.map(cells),
    notes: [
      ...rows.filter((row) => row.facts).map((row) => factsText(row.title, row.facts)),
      ...(facts ? [factsText(`${quote('/metrics')} at the end`, facts)] : []),
    ],
  };
};

const caseText = (result: CaseResult): string => {
  const { head, rows, notes } = caseCells(result, (name) => `\`${name}\``);
  return [
    `### ${result.title}: ${SDK_TITLES[result.sdk]}`,
    '',
    markdownTable([['', ...head], ...rows]),
    ...(notes.length > 0 ? ['', ...notes.map((note) => `- ${note}`)] : []),
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
