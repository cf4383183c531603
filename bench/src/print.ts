import Table from 'cli-table3';
import { SDK_TITLES } from './cases.ts';
import type { Case } from './contest.ts';
import { exact, figure } from './figures.ts';
import { BASELINES, type CaseResult, isClose, type Results, type Row, type Verdict } from './results.ts';

const EDGES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const made = new Table({
    chars: EDGES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map((_, index) => (index === 0 ? 'left' : 'right')),
  });
  made.push([...head], ...rows.map((row) => [...row]));
  return made.toString().replaceAll(/ +$/gm, '');
};

const factsText = (facts: Readonly<Record<string, number>>): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${value.toLocaleString('en')}`)
    .join(', ');

const rowCells = (row: Row, bases: readonly (typeof BASELINES)[number][]): readonly string[] => [
  row.title,
  figure(row.median),
  `${figure(row.p25)} – ${figure(row.p75)}`,
  ...bases.map((base) => figure(row.ratios[base]?.median ?? Number.NaN)),
];

const UNITS: Readonly<Record<Case['unit'], string>> = { ns: 'ns', bytes: 'bytes', ms: 'ms' };

const caseTable = ({ title, sdk, unit, rows, facts }: CaseResult): string => {
  const bases = BASELINES.filter((base) => rows.some((row) => row.ratios[base] !== undefined));
  const head = [`${title}: ${SDK_TITLES[sdk]}`, UNITS[unit], 'p25 – p75', ...bases.map((base) => `× ${base}`)];
  const notes = rows.flatMap((row) => (row.facts ? [`  ${row.title}: ${factsText(row.facts)}`] : []));
  if (facts) notes.push(`  /metrics at the end: ${factsText(facts)}`);
  return [
    table(
      head,
      rows.map((row) => rowCells(row, bases)),
    ),
    ...notes,
  ].join('\n');
};

const floorText = ({ floor }: Verdict): string =>
  floor === undefined
    ? ''
    : `${figure(floor.median)} (${floor.parts.map(({ title, median }) => `${title} ${figure(median)}`).join(' + ')}), ${figure(floor.above)} above it`;

/** Whether a target is met, in up to three words. */
const standingOf = (one: Verdict): string => {
  if (one.met === undefined) return 'not judged';
  return `${one.met ? 'met' : 'MISSED'}${isClose(one) ? ' narrowly' : ''}`;
};

const STANDING_WIDTH = 'MISSED narrowly  '.length;

const targetTable = (targets: readonly Verdict[]): string =>
  targets
    .map((one) => {
      const floor = floorText(one);
      const first = `${standingOf(one).padEnd(STANDING_WIDTH)}${exact(one.measured)} of ${exact(one.limit)}  ${one.says}`;
      return floor === '' ? first : `${first}\n${' '.repeat(STANDING_WIDTH)}floor ${floor}`;
    })
    .join('\n');

/** All findings, for a terminal. */
export const report = ({ cases, targets, machine, date, tookSeconds, pace }: Results): string =>
  [
    ...cases.map(caseTable),
    ...(pace === 'quick' ? ['A quick run judges no target: its numbers have little value.'] : []),
    targetTable(targets),
    `${date}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${Object.entries(machine.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}; load ${machine.load.before} before, ${machine.load.after} after; ${pace} run of ${tookSeconds} s`,
  ].join('\n\n');
