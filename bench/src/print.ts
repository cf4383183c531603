import Table from 'cli-table3';
import { SDK_TITLES } from './cases.ts';
import type { Case } from './contest.ts';
import { BASELINES, type CaseResult, type Results, type Row, type Verdict } from './results.ts';

/** Three digits, in thousands where there are more. */
export const figure = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return Number(value.toPrecision(size < 1 ? 2 : 3)).toString();
};

/** As it was written down: a limit is missed by the last digit too. */
export const exact = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 4 });

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

export const caseTable = ({ title, sdk, unit, rows, facts }: CaseResult): string => {
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

export const targetTable = (targets: readonly Verdict[]): string =>
  targets
    .map((one) => {
      const floor = floorText(one);
      const first = `${one.met ? 'met   ' : 'MISSED'}  ${exact(one.measured)} of ${exact(one.limit)}  ${one.says}`;
      return floor === '' ? first : `${first}\n        floor ${floor}`;
    })
    .join('\n');

/** All that was found, for a terminal. */
export const report = ({ cases, targets, machine, date, tookSeconds, pace }: Results): string =>
  [
    ...cases.map(caseTable),
    targetTable(targets),
    `${date}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${Object.entries(machine.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}; load ${machine.load.before} before, ${machine.load.after} after; ${pace} run of ${tookSeconds} s`,
  ].join('\n\n');
