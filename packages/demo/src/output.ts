import { safeJson } from '@breakerbox/core/internal';
import { terminalSafe } from '../../cli/src/command-io.ts';
import type { DemoReport } from './demo-report.ts';
import type { DemoStatus } from './demo-status.ts';
import { clockTime } from './duration.ts';
import { entryLine, type Journal } from './journal.ts';
import { colour, plain } from './paint.ts';
import { summary } from './summary.ts';
import { openScreen } from './terminal.ts';
import { renderView } from './view.ts';
import { reportText } from './wording.ts';

/** The output of the demo. */
export interface Output {
  /** The agents have started: begins to show them. */
  begin(status: () => DemoStatus): void;
  /** Shows a fault in telemetry: in the view, or on stderr. */
  diagnostic(line: string): void;
  /** Restores the terminal. What is written after it stays visible. */
  restore(): void;
  /** Prints the summary or the report. */
  finish(done: DemoReport): void;
}

/** How to show the output. */
export interface OutputOptions {
  readonly json: boolean;
  readonly color: boolean;
}

/** How often the view is drawn. */
const REDRAW_MS = 500;

/** JSON, a view on a terminal, or else a line for each event. */
export const openOutput = (journal: Journal, { json, color }: OutputOptions): Output => {
  if (json) return jsonOutput(journal);
  return process.stdout.isTTY ? viewOutput(journal, color) : lineOutput(journal);
};

const toStderr = (line: string): void => {
  process.stderr.write(`breakerbox demo: telemetry: ${terminalSafe(line)}\n`);
};

/** Standard output has only the document. Notices go to standard error. */
const jsonOutput = (journal: Journal): Output => {
  const notes = new Set(['stack', 'telemetry']);
  journal.onEntry((entry) => {
    if (notes.has(entry.who)) process.stderr.write(`${entryLine(entry)}\n`);
  });
  return {
    begin: () => undefined,
    diagnostic: toStderr,
    restore: () => undefined,
    finish: (done) => {
      process.stdout.write(`${safeJson(done, 2)}\n`);
    },
  };
};

const lineOutput = (journal: Journal): Output => {
  journal.onEntry((entry) => {
    if (entry.report === undefined) process.stdout.write(`${entryLine(entry)}\n`);
    else
      process.stdout.write(
        `${entryLine({ ...entry, text: 'pauses, and reports:' })}\n\n${reportText(entry.report)}\n\n`,
      );
  });
  return {
    begin: (status) => {
      for (const [name, place] of Object.entries(status().places)) journal.note(name, place);
    },
    diagnostic: toStderr,
    restore: () => undefined,
    finish: (done) => {
      process.stdout.write(`\n${summary(done)}`);
    },
  };
};

const viewOutput = (journal: Journal, color: boolean): Output => {
  const paint = color && process.stdout.hasColors() ? colour : plain;
  let isOpen = false;
  let restore = (): void => undefined;
  return {
    begin: (status) => {
      const screen = openScreen(process.stdout);
      const draw = (): void =>
        screen.draw(renderView(status(), { columns: process.stdout.columns, rows: process.stdout.rows }, paint));
      const timer = setInterval(draw, REDRAW_MS);
      draw();
      isOpen = true;
      restore = () => {
        isOpen = false;
        clearInterval(timer);
        screen.restore();
      };
    },
    diagnostic: (line) => {
      journal.note('telemetry', line, 'warn');
      if (!isOpen) toStderr(line);
    },
    restore: () => restore(),
    finish: (done) => {
      const latest = done.reports.at(-1);
      if (latest !== undefined) {
        process.stdout.write(`The latest pause report, of ${clockTime(latest.atMs)}:\n\n`);
        process.stdout.write(`${reportText(latest.report, paint)}\n\n`);
      }
      process.stdout.write(summary(done));
    },
  };
};
