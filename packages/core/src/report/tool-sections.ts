import { circuitNameOf } from '../circuit/groups.ts';
import { formatDuration } from '../routing/duration-text.ts';
import { type Column, counted, figure, item, lasted, named, table } from './lines.ts';
import { isRejectedByGroup, isUnavailable, rejectsCalls } from './next.ts';
import type { SessionReport } from './session-report.ts';
import type { ProbeReport, ToolReport } from './tool-report.ts';

/** The health of tools in text. */

/** A part of a report: its title, and its lines. A part without lines is left out. */
export type Section = (report: SessionReport) => readonly [title: string, lines: readonly string[]];

/** A tool's name. */
export const NAME: Column<{ readonly tool: string }> = { head: 'tool', cell: ({ tool }) => named(tool) };

/** A count in a table; 0 is left empty. */
export const count = (times: number): string => (times === 0 ? '' : figure(times));

/** A circuit that rejects calls, of a group or a tool. */
interface UnavailableRow extends Pick<ToolReport, 'tool' | 'openForMs' | 'nextProbe'> {
  readonly state: string;
  readonly cause: string;
  readonly failed: number;
  readonly rejected: number;
}

const UNAVAILABLE_COLUMNS: readonly Column<UnavailableRow>[] = [
  NAME,
  { head: 'state', cell: ({ state }) => state },
  { head: 'cause', cell: ({ cause }) => cause },
  { head: 'for', cell: ({ openForMs }) => (openForMs === null ? '' : lasted(openForMs)), align: 'right' },
  { head: 'next probe', cell: ({ nextProbe }) => (nextProbe === null ? '' : probeText(nextProbe)) },
  { head: 'failed', cell: ({ failed }) => count(failed), align: 'right' },
  { head: 'rejected', cell: ({ rejected }) => count(rejected), align: 'right' },
];

/** `due`, `40 s`, `2 steps/60 s`, `2 steps, 40 s least`. */
const probeText = ({ steps, ms, notBeforeMs }: ProbeReport): string => {
  const least = notBeforeMs > 0 ? formatDuration(notBeforeMs) : '';
  if (steps === 0 || ms === 0) return least || 'due';
  if (ms !== null && notBeforeMs >= ms) return least; // Both end then, and not before.
  const due = [steps === null ? '' : counted(steps, 'step'), ms === null ? '' : formatDuration(ms)];
  return `${due.filter(Boolean).join('/')}${least && `, ${least} least`}`;
};

/** Failures in a row are the usual case and not shown. */
const causeOf = ({ category, trip }: Pick<ToolReport, 'category' | 'trip'>): string =>
  [category, trip === 'consecutive' ? null : trip?.replaceAll('_', ' ')].filter(Boolean).join(', ');

/** The circuits that reject calls: groups with their tools beneath them, then tools that are unavailable by themselves. */
const unavailableRows = ({ tools, groups, systemic, state }: SessionReport): readonly UnavailableRow[] => {
  // A paused session does not probe (S2, B1). While an event lasts, its circuits are not probed one by one (S5).
  const ofEvent = new Set(systemic?.tools.map(({ tool }) => tool));
  const probeOf = (name: string, probe: ProbeReport | null) => (state !== 'active' || ofEvent.has(name) ? null : probe);
  const rowOf = (one: ToolReport, more: Partial<UnavailableRow> = {}): UnavailableRow => ({
    tool: one.tool,
    state: one.state ?? 'no circuit',
    cause: causeOf(one),
    openForMs: one.openForMs,
    nextProbe: probeOf(one.tool, one.nextProbe),
    failed: one.calls.failed,
    rejected: one.rejected.skipped + one.rejected.paused,
    ...more,
  });
  const ofGroups = groups
    .filter((group) => rejectsCalls(group.state))
    .flatMap((group): UnavailableRow[] => {
      const { openForMs, skipped } = group;
      const tool = circuitNameOf(group.group);
      const nextProbe = probeOf(tool, group.nextProbe);
      const members = tools.filter((one) => one.group === group.group && isRejectedByGroup(one));
      return [
        { tool, state: group.state, cause: causeOf(group), openForMs, nextProbe, failed: 0, rejected: skipped },
        ...members.map((one) => rowOf(one, { state: 'by its group', cause: named(tool) })),
      ];
    });
  return [...ofGroups, ...tools.filter((one) => rejectsCalls(one.state)).map((one) => rowOf(one))];
};

/** What rejects calls: since when, why, and until when. */
export const unavailableSection: Section = (report) => [
  'Unavailable tools',
  table(UNAVAILABLE_COLUMNS, unavailableRows(report)),
];

const OTHER_COLUMNS: readonly Column<ToolReport>[] = [
  NAME,
  { head: 'state', cell: ({ state }) => state ?? 'no circuit' },
  { head: 'ok', cell: ({ calls }) => count(calls.succeeded), align: 'right' },
  { head: 'failed', cell: ({ calls }) => count(calls.failed), align: 'right' },
  { head: 'in a row', cell: ({ failuresInRow }) => count(failuresInRow), align: 'right' },
  { head: 'rejected', cell: ({ rejected }) => count(rejected.skipped + rejected.paused), align: 'right' },
];

/** The health of all other tools, those that have failed first. */
export const toolSection: Section = ({ tools }) => {
  const failed = ({ calls }: ToolReport) => Number(calls.failed > 0);
  const rows = tools.filter((tool) => !isUnavailable(tool)).toSorted((a, b) => failed(b) - failed(a));
  return [rows.length === tools.length ? 'Tools' : 'Other tools', table(OTHER_COLUMNS, rows)];
};

/** Facts that few tools have, so they get no column. */
export const remarkSection: Section = ({ tools }) => {
  const remark = (text: string, of: (tool: ToolReport) => number) => {
    const some = tools.filter((tool) => of(tool) > 0).map((tool) => `${named(tool.tool)} ${figure(of(tool))}`);
    return some.length === 0 ? [] : [item('-', `${text}: ${some.join(', ')}.`)];
  };
  return [
    'Remarks',
    [
      ...remark('Calls skipped for one target, while others go on', ({ rejected }) => rejected.reasons.key_open ?? 0),
      ...remark('Ignored results, which say nothing of health', ({ calls }) => calls.ignored),
      ...remark('Tokens wasted on failed calls', ({ tokensWasted }) => tokensWasted),
      ...remark('Only observed; would have been skipped or paused', (tool) => tool.wouldHaveBeenRejected),
    ],
  ];
};
