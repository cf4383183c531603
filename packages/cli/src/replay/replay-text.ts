import { isMostlyIgnored, safeJson } from '@breakerbox/core/internal';
import { onOneLine, plainTable, printable } from '../plain-table.ts';
import type { GridReport } from './grid.ts';
import { limitsText, missingText } from './limits-text.ts';
import { modelsText } from './models-text.ts';
import { addOutcomes, noOutcomes, OF_FAILURES, totalOf } from './rejections.ts';
import type { FileReport } from './replay.ts';
import type { Decisions, ReplayReport } from './replay-report.ts';
import type { Bounds } from './replay-totals.ts';

/** Rows of each list. */
const MAX_ROWS = 20;
const MAX_VERSIONS = 5;
const MAX_NAME = 80;

/** The report for a terminal. */
export const replayText = (report: ReplayReport, columns: number): string => {
  const parts = [recordingText(report), ...(report.refused ? [refusedText(report.refused)] : [])];
  if (report.decisions) parts.push(...decisionsText(report.decisions, columns));
  if (report.models) parts.push(...modelsText(report.models, columns));
  if (report.grid) parts.push(gridText(report.grid, columns));
  if (report.unjudgedTexts) parts.push(textsText(report.unjudgedTexts));
  return `${parts.join('\n\n')}\n`;
};

const count = (number: number, one: string, more = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : more}`;

const recordingText = ({ recording, config }: ReplayReport): string => {
  const { files, sessions, calls, outcomes, unjudged, from, to, misplaced, steps } = recording;
  const lines = [
    `${count(calls, 'call')} of ${count(sessions, 'session')} in ${count(files.filter(isRead).length, 'file')}${formatsOf(files)}${from === undefined ? '' : `, ${from} to ${to}`}`,
    `Recorded outcomes: ${count(outcomes.success, 'succeeded', 'succeeded')}, ${count(outcomes.failure, 'failed', 'failed')}, ${count(outcomes.ignored, 'ignored', 'ignored')} (not the tool's fault), ${count(outcomes.unknown, 'without a result', 'without a result')}.`,
  ];
  if (unjudged > 0) {
    lines.push(
      `The classifier could not classify ${count(unjudged, 'error')}. By default, those of category unknown count as failures, and those of category tool_error are ignored. --show lists their texts.`,
    );
  }
  if (steps === 0 && calls > 0)
    lines.push('The recording has no steps (model calls), so only time decides when a probe is due.');
  if (misplaced > 0)
    lines.push(
      `${count(misplaced, 'event is', 'events are')} out of order. One that is earlier than the event before it in its session gets the time of that event. The end of a call that did not start is left out.`,
    );
  return [...lines, ...missingText(recording, config), ...faultLines(files)].join('\n');
};

const isRead = ({ format }: FileReport): boolean => format !== undefined;

/** The formats and the versions of the programs that wrote the files. */
const formatsOf = (files: readonly FileReport[]): string => {
  const found = [...new Set(files.flatMap(({ format }) => format ?? []))].map((format) => {
    const versions = new Set(files.filter((file) => file.format === format).flatMap((file) => file.versions));
    return [format, ...[...versions].slice(0, MAX_VERSIONS).map(short), ...(versions.size > MAX_VERSIONS ? ['…'] : [])];
  });
  return found.length === 0 ? '' : ` (${found.map((words) => words.join(' ')).join(', ')})`;
};

/** Faults of the files, and what was left out or assumed. The same thing in several files is one line. */
export const faultLines = (files: readonly FileReport[]): readonly string[] => {
  const found = new Map<string, { number: number; paths: string[] }>();
  const add = (what: string, number: number, path: string): void => {
    const known = found.get(what) ?? { number: 0, paths: [] };
    found.set(what, { number: known.number + number, paths: [...known.paths, path] });
  };
  for (const { path, format, error, skipped } of files) {
    if (error !== undefined) add(`reading stopped: ${printable(error)}`, 1, path);
    else if (format === undefined) add('unknown format; name it with --format', 1, path);
    for (const [what, number] of Object.entries(skipped)) add(what, number, path);
  }
  if (found.size === 0) return [];
  const lines = [...found].slice(0, MAX_ROWS).map(
    ([
      what,
      {
        number,
        paths: [first = '', ...more],
      },
    ]) => {
      const others = more.length === 0 ? '' : ` and ${count(more.length, 'more file')}`;
      return `  ${number.toLocaleString('en')} x ${what} (${printable(first)}${others})`;
    },
  );
  return ['Left out or assumed:', ...lines, ...moreLine(found.size)];
};

/** Says that a list is cut off. */
const moreLine = (length: number): readonly string[] =>
  length > MAX_ROWS ? [`  and ${(length - MAX_ROWS).toLocaleString('en')} more. --json lists up to 5,000.`] : [];

/** A name that may be long. */
const short = (name: string): string => {
  const text = onOneLine(name);
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text;
};

const refusedText = (reasons: readonly string[]): string =>
  [
    'The replay made no decisions: calls are missing in the recording, so it cannot count failures in a row. What was found:',
    ...reasons.slice(0, MAX_ROWS).map((reason) => `  ${printable(reason)}`),
    ...moreLine(reasons.length),
    'Record without sampling. Or add --allow-incomplete to replay anyway: the report may then have too few or too many openings.',
  ].join('\n');

const bounds = ({ measured, atMost }: Bounds): string =>
  atMost === measured ? `${measured}` : `${measured} to ${atMost}`;

const minutes = (ms: number): string => (ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

const decisionsText = (decisions: Decisions, columns: number): readonly string[] => {
  const { tools, openings, sessionsOfFailures, pauses, limits, rejected, parity } = decisions;
  const shown = tools.filter(
    ({ openings: opened, failedCallsAvoided: avoided, goodCallsLost: lost }) =>
      opened + avoided.atMost + lost.atMost > 0,
  );
  const rows = shown
    .slice(0, MAX_ROWS)
    .map(({ tool, calls, openings: opened, falseOpenings, openMs, ...of }) => [
      short(tool),
      `${totalOf(calls)}`,
      `${calls.failure}`,
      falseOpenings > 0 ? `${opened} (${falseOpenings} lost good calls only)` : `${opened}`,
      minutes(openMs),
      bounds(of.failedCallsAvoided),
      bounds(of.goodCallsLost),
    ]);
  const header = ['tool', 'calls', 'failed', 'opened', 'open for', 'failed calls avoided', 'good calls lost'];
  const repeats = totalOf(rejected.loop_guard.measured) + totalOf(rejected.loop_guard.modelled);
  return [
    shown.length === 0
      ? `${pauses.length + limits.length === 0 ? 'Nothing' : 'No circuit'} would have opened, and no failed or successful call would have been rejected by a circuit or the budget.`
      : [plainTable([header, ...rows], columns), ...moreLine(shown.length)].join('\n'),
    ...uncountedText(tools),
    ...keysText(tools),
    ...(sessionsOfFailures > 0 ? [rejectedText(decisions)] : []),
    ...(openings.length > 0 ? [openingsText(decisions, columns)] : []),
    ...(pauses.length > 0 ? [pausesText(decisions)] : []),
    ...(limits.length > 0 ? [limitsText(decisions)] : []),
    ...(repeats > 0
      ? [
          `Loop guard: ${count(repeats, 'repeated call')} would have been skipped. The numbers above do not include repeated calls.`,
        ]
      : []),
    ...(parity ? [parityText(parity)] : []),
  ];
};

/** Tools that a person could see are broken, though no circuit counts their errors. */
const uncountedText = (tools: Decisions['tools']): readonly string[] => {
  const rows = tools.flatMap(({ tool, calls, ignoredErrors }) => {
    const errors = Object.values(ignoredErrors).reduce((sum, times) => sum + times, 0);
    if (!isMostlyIgnored(errors, totalOf(calls))) return [];
    const categories = Object.entries(ignoredErrors).map(([category, times]) => `${category} ${times}`);
    const of = count(totalOf(calls), 'call');
    return [
      `  ${short(tool)}: ${errors} of ${of} came back with an error that is not counted (${categories.join(', ')}).`,
    ];
  });
  if (rows.length === 0) return [];
  const advice = 'If such a tool is broken, its errors are not worded like an outage. --show lists their texts.';
  return [
    ['Tools whose errors do not count:', ...rows.slice(0, MAX_ROWS), ...moreLine(rows.length), advice].join('\n'),
  ];
};

/** C14: failures that count for their keys alone, until enough keys fail in a row. */
const keysText = (tools: Decisions['tools']): readonly string[] => {
  const rows = tools.flatMap(({ tool, keyFailures, failedKeys, calls }) =>
    keyFailures === 0
      ? []
      : [
          `  ${short(tool)}: ${keyFailures.toLocaleString('en')} of ${count(totalOf(calls), 'call')}, with ${count(failedKeys, 'key')}.`,
        ],
  );
  if (rows.length === 0) return [];
  const title = 'Failures that blame the key of a call, such as the host of its URL, and not the tool:';
  const advice = 'They open the circuit of that key. The tool opens if enough keys fail in a row.';
  return [[title, ...rows.slice(0, MAX_ROWS), ...moreLine(rows.length), advice].join('\n')];
};

const rejectedText = ({ failedCallsAvoided, goodCallsLost, sessionsOfFailures, rejected }: Decisions): string => {
  const others = noOutcomes();
  for (const by of OF_FAILURES) {
    addOutcomes(others, rejected[by].measured);
    addOutcomes(others, rejected[by].modelled);
  }
  return [
    `Failed calls avoided: ${bounds(failedCallsAvoided)}. Good calls lost: ${bounds(goodCallsLost)}. In ${count(sessionsOfFailures, 'session')}.`,
    'Of two numbers, the first is measured: it counts only the first rejected call of each session, by its recorded outcome.',
    'The second is an upper bound: it assumes that the agents continue as recorded. In a real run, Breakerbox tells them to use something else.',
    ...(others.ignored + others.unknown > 0
      ? [`Other rejected calls, at most: ${others.ignored} ignored, ${others.unknown} without a result.`]
      : []),
  ].join('\n');
};

/** T6: what would have opened, when and for how long. */
const openingsText = ({ openings }: Decisions, columns: number): string => {
  const header = ['opened at', 'tool', 'session', 'error', 'open for', 'rejected calls'];
  const rows = openings.slice(0, MAX_ROWS).map(({ from, to, tool, session, category, rejected }) => {
    const { success, failure, ignored, unknown } = rejected;
    const parts = Object.entries({ failed: failure, succeeded: success, ignored, 'without a result': unknown });
    return [
      from,
      short(tool),
      short(session),
      category ?? '',
      to === undefined ? 'to the end' : minutes(Date.parse(to) - Date.parse(from)),
      parts.flatMap(([name, number]) => (number > 0 ? `${number} ${name}` : [])).join(', ') || 'none',
    ];
  });
  return [plainTable([header, ...rows], columns, false), ...moreLine(openings.length)].join('\n');
};

const pausesText = ({ pauses, pausedBy: by }: Decisions): string => {
  return [
    `Pauses: ${by.budget} by the failure budget, ${by.systemic} by correlated failures (several tools at once). Each would have waited for a person.`,
    ...pauses
      .slice(0, MAX_ROWS)
      .map(
        ({ at, session, by: why, rejected }) =>
          `  ${at} ${short(session)}: ${why === 'budget' ? 'failure budget' : 'correlated failures'}, with ${count(totalOf(rejected), 'later call')} in the recording`,
      ),
    ...moreLine(by.budget + by.systemic),
  ].join('\n');
};

const parityText = ({ compared, different, notCompared, differences }: NonNullable<Decisions['parity']>): string =>
  [
    `Breakerbox guarded the recorded run: ${compared - different} of ${compared} decisions are the same in the replay` +
      `${notCompared === 0 ? '.' : `, and ${notCompared} cannot be compared, because they depend on arguments, keys, pre-call checks or operators.`}`,
    ...differences.map(
      ({ session, tool, live, replay }) => `  ${short(session)} ${short(tool)}: ${live}, replayed ${replay}`,
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
    ? `Recommended: defaults: ${safeJson(recommended.defaults)}. ${why}`
    : `No change is recommended. ${why}`;
  return `${plainTable([header, ...cells], columns, false)}\nEach cell has two numbers: the tuning half + the held-out half of the sessions. Avoided and lost calls are upper bounds.\n\n${advice}`;
};

const textsText = (texts: Readonly<Record<string, number>>): string => {
  const lines = Object.entries(texts).map(([text, number]) => `  ${number}  ${onOneLine(text)}`);
  return lines.length === 0
    ? 'The classifier classified every error, and every error counts.'
    : [
        'Errors that could not be classified, or that are not counted, by tool:',
        ...lines,
        'If these are outages, a `classify` function of the tool names their category in your code. To see the effect here, replay with a',
        '--config such as: tools: { NAME: { outcomes: { tool_error: failure, unknown: failure } } }',
      ].join('\n');
};
