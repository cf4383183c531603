import { show } from '../checks.ts';
import { BreakerboxUsageError } from '../errors.ts';
import { layOutSections, paragraph, type Section, sheetOf, type TextOptions } from './layout.ts';
import { isOut } from './next.ts';
import type { SessionReport } from './report.ts';
import { budgetSection, leftOutSection, nextSection, systemicSection, taskSection } from './sections.ts';
import type { Sheet, Tone } from './table.ts';
import { outSection, remarkSection, toolSection } from './tool-sections.ts';
import { counted, named, utc } from './words.ts';

/**
 * Reports as text (Q1): the first line says what is wrong, the most important content comes first, and no line is wider than
 * `columns`. Names from outside are shown with escaped control characters. The functions never throw on a report that
 * `session.report()` returned, even after a round trip through JSON.
 */

type Part = (report: SessionReport, sheet: Sheet) => Section;

/** The health of every tool and group, the worst first, and the failure budget. */
export const formatStateTable: Format = text('formatStateTable', (report, options) =>
  write(report, options, report.headline, [outSection, toolSection, budgetSection, remarkSection]),
);

/** What is done, what can be done, and what has to wait until when (W1). */
export const formatScopeReport: Format = text('formatScopeReport', (report, options) =>
  write(report, options, scopeHeadline(report), [taskSection, nextSection]),
);

/** What is done, what is not and why, each tool's health, each charged failure, and first of all what to do next. */
export const formatPauseReport: Format = text('formatPauseReport', (report, options) =>
  write(report, options, report.headline, [
    nextSection,
    systemicSection,
    taskSection,
    leftOutSection,
    outSection,
    toolSection,
    budgetSection,
    remarkSection,
  ]),
);

/** The category that all share, the tools, the suspected layer, and when each opened (S4). */
export const formatSystemicReport: Format = text('formatSystemicReport', (report, options) =>
  report.systemic === null
    ? write(report, options, 'No systemic failure.', [])
    : write(report, options, report.headline, [systemicSection, nextSection]),
);

/**
 * The report that fits the state of the session: the pause report while it is paused, otherwise the state table and the work that
 * was left out.
 *
 * @example
 * ```ts
 * process.stdout.write(`${formatReport(session.report(), { columns: process.stdout.columns, colour: process.stdout.isTTY })}\n`);
 * ```
 */
export const formatReport: Format = text('formatReport', (report, options) =>
  report.state === 'active'
    ? write(report, options, report.headline, [
        nextSection,
        systemicSection,
        outSection,
        toolSection,
        taskSection,
        leftOutSection,
        budgetSection,
        remarkSection,
      ])
    : formatPauseReport(report, options),
);

type Format = (report: SessionReport, options?: TextOptions) => string;

/**
 * A public format of a report.
 *
 * @throws BreakerboxUsageError if `report` is not a report.
 */
function text(name: string, form: (report: SessionReport, options: TextOptions) => string): Format {
  return (report, options) => {
    const { headline, tools } = ((report as unknown) ?? {}) as Partial<SessionReport>;
    if (typeof headline !== 'string' || !Array.isArray(tools)) {
      throw new BreakerboxUsageError(
        `${name}(${show(report)}): this is no report, so there is nothing to write. Give what session.report() returns.`,
      );
    }
    return form(report, options ?? {});
  };
}

const write = (report: SessionReport, options: TextOptions, headline: string, parts: readonly Part[]): string => {
  const sheet = sheetOf(options);
  const { agent, session, step, unixMs } = report;
  const head = [
    ...paragraph(sheet, headline, toneOf(report)),
    ...paragraph(sheet, `${named(agent)}, session ${named(session)}, step ${step}, ${utc(unixMs)}`, 'quiet'),
  ];
  return layOutSections(
    sheet,
    head,
    parts.map((part) => part(report, sheet)),
  );
};

const toneOf = ({ state, systemic, tools, scope }: SessionReport): Tone => {
  if (state !== 'active') return 'bad';
  return systemic !== null || tools.some(isOut) || (scope?.deferred.length ?? 0) > 0 ? 'warn' : 'good';
};

const scopeHeadline = ({ scope, done }: SessionReport): string => {
  const finished = done.length === 0 ? '' : `, ${done.length} done`;
  if (scope === null) return `No scope was planned${finished}.`;
  const { achievable, deferred } = scope;
  const can = achievable.length;
  const waiting = deferred.length;
  if (waiting === 0)
    return can === 0 ? `Nothing is left to do${finished}.` : `All ${counted(can, 'task')} can be done${finished}.`;
  if (can === 0) return `No task can be done now: ${waiting} deferred${finished}.`;
  return `Reduced scope: ${counted(can, 'task')} can be done, ${waiting} deferred${finished}.`;
};
