import { onOneLine, plainTable, printable } from '../plain-table.ts';
import type { GridReport } from './grid.ts';
import { totalOf } from './rejections.ts';
import type { FileReport } from './replay.ts';
import type { Bounds, Decisions, ReplayReport } from './replay-report.ts';

/** Sessions ids and tools of a report, and differences of a live run, that are listed. `--json` has all. */
const MAX_ROWS = 20;

/** The report for a terminal. */
export const replayText = (report: ReplayReport, columns: number): string => {
  const parts = [recordingText(report), ...(report.refused ? [refusedText(report.refused)] : [])];
  if (report.decisions) parts.push(...decisionsText(report.decisions, columns));
  if (report.grid) parts.push(gridText(report.grid, columns));
  if (report.unjudgedTexts) parts.push(textsText(report.unjudgedTexts));
  return `${parts.join('\n\n')}\n`;
};

const count = (number: number, one: string, more = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : more}`;

const recordingText = ({ recording }: ReplayReport): string => {
  const { files, sessions, calls, outcomes, unjudged, from, to, misplaced, steps } = recording;
  const lines = [
    `${count(calls, 'call')} of ${count(sessions, 'session')} in ${count(files.filter(isRead).length, 'file')}${from === undefined ? '' : `, ${from} to ${to}`}`,
    `Recorded outcomes: ${outcomes.success} succeeded, ${outcomes.failure} failed, ${outcomes.ignored} ignored (not the tool's fault), ${outcomes.unknown} without a result.`,
  ];
  if (unjudged > 0) {
    lines.push(
      `${count(unjudged, 'error')} gave the classifier no evidence and ${unjudged === 1 ? 'counts' : 'count'} by the defaults of tool_error. --show lists the texts.`,
    );
  }
  if (steps === 0 && calls > 0) lines.push('The recording has no steps (model calls), so probes wait by time alone.');
  if (misplaced > 0)
    lines.push(
      `${count(misplaced, 'event')} came before an earlier one of the same session. Their time was taken as that of the earlier one.`,
    );
  for (const file of files) lines.push(...fileLines(file));
  return lines.join('\n');
};

const isRead = ({ format }: FileReport): boolean => format !== undefined;

const fileLines = ({ path, format, skipped, error }: FileReport): readonly string[] => {
  const name = printable(path);
  const left = Object.entries(skipped).map(([what, number]) => `${number} ${what}`);
  return [
    ...(format === undefined && error === undefined
      ? [`${name}: no reader knows this format. --format names one.`]
      : []),
    ...(error === undefined ? [] : [`${name}: reading stopped. ${printable(error)}`]),
    ...(left.length === 0 ? [] : [`${name}: left out ${left.join(', ')}.`]),
  ];
};

const refusedText = (reasons: readonly string[]): string =>
  [
    'Nothing was decided, because calls are missing in the recording. Failures in a row cannot be counted in it:',
    ...reasons.slice(0, MAX_ROWS).map((reason) => `  ${printable(reason)}`),
    'Record without sampling. --allow-incomplete decides all the same; its openings may be too few or too many.',
  ].join('\n');

const bounds = ({ measured, atMost }: Bounds): string =>
  atMost === measured ? `${measured}` : `${measured} to ${atMost}`;

const minutes = (ms: number): string => (ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

const decisionsText = (decisions: Decisions, columns: number): readonly string[] => {
  const { tools, failedCallsAvoided, goodCallsLost, changedSessions, pauses, rejected, parity } = decisions;
  const shown = tools.filter(
    ({ openings, failedCallsAvoided: avoided, goodCallsLost: lost }) => openings + avoided.atMost + lost.atMost > 0,
  );
  const rows = shown
    .slice(0, MAX_ROWS)
    .map(({ tool, calls, openings, falseOpenings, openMs, ...of }) => [
      printable(tool),
      `${totalOf(calls)}`,
      `${calls.failure}`,
      falseOpenings > 0 ? `${openings} (${falseOpenings} false)` : `${openings}`,
      minutes(openMs),
      bounds(of.failedCallsAvoided),
      bounds(of.goodCallsLost),
    ]);
  const header = ['tool', 'calls', 'failed', 'opened', 'open for', 'failed calls avoided', 'good calls lost'];
  const repeats = rejected.loop_guard;
  return [
    shown.length === 0
      ? 'Nothing would have opened, and no call would have been rejected by a circuit or the budget.'
      : plainTable([header, ...rows], columns),
    [
      `Failed calls avoided: ${bounds(failedCallsAvoided)}. Good calls lost: ${bounds(goodCallsLost)}. In ${count(changedSessions, 'session')}.`,
      'The first number is measured: the first rejected call of each session, with its recorded outcome.',
      'The second is modelled: at most so many, if the agents had gone on as recorded. In truth they are told to use something else.',
    ].join('\n'),
    ...(pauses.length > 0 ? [pausesText(decisions)] : []),
    ...(totalOf(repeats.measured) + totalOf(repeats.modelled) > 0
      ? [
          `Loop guard: ${totalOf(repeats.measured) + totalOf(repeats.modelled)} repeated calls would have been skipped. They are not in the numbers above.`,
        ]
      : []),
    ...(parity ? [parityText(parity)] : []),
  ];
};

const pausesText = ({ pauses }: Decisions): string => {
  const by = { budget: 0, systemic: 0 };
  for (const pause of pauses) by[pause.by] += 1;
  return `Sessions paused: ${by.budget} by their failure budget, ${by.systemic} by correlated failures. Each would have waited for a person.`;
};

const parityText = ({ compared, different, notCompared, differences }: NonNullable<Decisions['parity']>): string =>
  [
    `Breakerbox guarded the recorded run: ${compared - different} of ${compared} decisions are the same in the replay` +
      `${notCompared === 0 ? '.' : `, and ${notCompared} cannot be compared (arguments, keys, checks, operators).`}`,
    ...differences.map(
      ({ session, tool, live, replay }) => `  ${printable(session)} ${printable(tool)}: ${live}, replayed ${replay}`,
    ),
  ].join('\n');

const gridText = ({ rows, recommended, why }: GridReport, columns: number): string => {
  const header = ['failures to open', 'cooldown', 'opened', 'failed calls avoided', 'good calls lost', 'pauses'];
  const both = (of: (half: GridReport['rows'][number]['tuning']) => number, row: GridReport['rows'][number]): string =>
    `${of(row.tuning)} + ${of(row.heldOut)}`;
  const cells = rows.map((row) => [
    `${row.failureThreshold}`,
    minutes(row.cooldownMs),
    both(({ openings }) => openings, row),
    both(({ avoided }) => avoided, row),
    both(({ lost }) => lost, row),
    both(({ pauses }) => pauses, row),
  ]);
  const advice = recommended
    ? `Recommended: defaults: { failureThreshold: ${recommended.failureThreshold}, cooldownMs: ${recommended.cooldownMs} }. ${why}`
    : `No change is recommended. ${why}`;
  return `${plainTable([header, ...cells], columns, false)}\nBoth halves of the sessions: tuning + held out. Avoided and lost calls are upper bounds.\n\n${advice}`;
};

const textsText = (texts: Readonly<Record<string, number>>): string => {
  const lines = Object.entries(texts).map(([text, number]) => `  ${number}  ${onOneLine(text)}`);
  return lines.length === 0
    ? 'The classifier judged every error.'
    : [
        'Errors that the classifier could not judge. A `classify` function of the tool can name their category:',
        ...lines,
      ].join('\n');
};
