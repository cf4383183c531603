import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Blamed, DEFAULT_JUDGEMENT } from '@breakerbox/core';
import { classifyError, classifyResult, type ReadContext, type ToolKind } from '@breakerbox/instrumentation';
import { Command } from 'commander';
import { type CommandIo, documentOf, processIo } from '../command-io.ts';
import { plainTable, printable } from '../plain-table.ts';
import { type Entry, entriesOf } from './entries.ts';

interface Flags {
  readonly json: boolean;
  readonly thrown: boolean;
  readonly whole: boolean;
  readonly tool?: string;
}

/** The output of `--json` for each text. */
export interface ClassifyReport {
  readonly text: string;
  /** `failure`: it counts toward opening a circuit, of the tool or of the key. `ignored` and `success` do not count. */
  readonly outcome: 'failure' | 'ignored' | 'success';
  readonly category?: string;
  readonly blames?: Blamed;
  readonly retryAfterMs?: number;
  readonly why?: string;
  /** What the category rests on. `nothing`: nothing could judge the error. */
  readonly judgedBy?: 'evidence' | 'words' | 'nothing';
}

const KINDS: readonly string[] = Object.keys({
  runner: true,
  fetch: true,
  browser: true,
} satisfies Record<ToolKind, true>);
const LONGEST = 160;

/** `breakerbox classify`. `input` is standard input. */
export const classifyCommand = (io: CommandIo = processIo, input: NodeJS.ReadableStream = process.stdin): Command =>
  new Command('classify')
    .description(
      'Show how errors are classified: the category, whether the tool or only one key (one target of the tool) is to blame, and why.',
    )
    .argument(
      '<file>',
      'texts (one per line), JSON (an error or a result, or an array of them), or JSONL; - for standard input',
    )
    .option('--thrown', 'the texts were thrown; default: a tool returned them as errors', false)
    .option('--whole', 'read the whole file as one message', false)
    .option('--tool <name>', 'the name of the tool (its kind follows from it), or a kind: runner, fetch or browser')
    .option('--json', 'print one JSON document, an array of ClassifyReport', false)
    .showHelpAfterError('(see breakerbox classify --help)')
    .action((file: string, flags: Flags) => run(file, flags, io, input));

const run = async (
  file: string,
  flags: Flags,
  { out, err, exitWith, columns }: CommandIo,
  input: NodeJS.ReadableStream,
) => {
  try {
    const content = file === '-' ? await readAll(input) : await readFile(file, 'utf8');
    const reports = entriesOf(content, flags).map((entry) => judge(entry, flags.tool));
    if (reports.length === 0) throw new Error('The file is empty. Give texts, JSON or JSONL.');
    out(flags.json ? documentOf(reports) : render(reports, columns));
  } catch (error) {
    err(`breakerbox classify: ${explain(file, error)}\n`);
    exitWith(1);
  }
};

const explain = (file: string, error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const name = `'${printable(file)}'`;
  if (code === 'ENOENT') return `there is no file ${name}. Give the path of a file, or - to read standard input.`;
  if (code === 'EISDIR') return `${name} is a folder. Give the path of a file, or - to read standard input.`;
  return `cannot read ${name}. ${message}`;
};

const judge = ({ text, thrown, value, tool, input }: Entry, named: string | undefined): ClassifyReport => {
  const name = tool ?? named;
  const context: ReadContext = {
    ...(name !== undefined && { tool: name }),
    ...(name !== undefined && KINDS.includes(name) && { kind: name as ToolKind }),
    ...(input !== undefined && { input }),
  };
  const verdict = thrown ? classifyError(value, context) : classifyResult(value, context);
  if (verdict === undefined) return { text, outcome: 'success' };
  const outcome = verdict.blames === 'key' ? 'failure' : DEFAULT_JUDGEMENT[verdict.category];
  const { marked: _, ...told } = verdict;
  return { text, outcome, ...told };
};

const render = (reports: readonly ClassifyReport[], columns: number): string => {
  const rows = reports.map(({ text, outcome, category = '-', blames, why = 'no error' }) => [
    outcome,
    category,
    outcome === 'failure' ? (blames ?? '-') : '-',
    why,
    printable(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text).replaceAll('\n', ' '),
  ]);
  const failures = reports.filter(({ outcome }) => outcome === 'failure').length;
  const table = plainTable([['outcome', 'category', 'blames', 'why', 'text'], ...rows], columns);
  return `${table}\n\n${failures} of ${reports.length} would count as a failure\n`;
};
