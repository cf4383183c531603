import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from './database.ts';
import { referenceOf, type Task, type Tasks } from './task.ts';
import { TOOLS } from './tools.ts';

const FOLDER = 'data/tau2/domains/airline';

interface PublishedTask {
  readonly id: string;
  readonly user_scenario: { readonly instructions: { readonly reason_for_call: string } | string };
  readonly evaluation_criteria: {
    readonly actions?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
    readonly communicate_info?: readonly string[];
  } | null;
}

const readJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`--tasks: cannot read ${path} (${why}). Give the folder of a clone of tau2-bench.`);
  }
};

const ROWS = z.record(z.string(), z.looseObject({}));
const DATABASE = z.looseObject({
  flights: ROWS,
  reservations: ROWS,
  users: z.record(z.string(), z.looseObject({ user_id: z.string() })),
});

const readDatabase = (path: string): Database => {
  const read = DATABASE.safeParse(readJson(path));
  if (read.success) return read.data as unknown as Database;
  const [issue] = read.error.issues;
  throw new Error(
    `--tasks: ${path} is not the database of tau2-bench's airline domain (${issue?.path.join('.')}: ${issue?.message}). Give the folder of a clone of tau2-bench.`,
  );
};

const taskOf = ({ id, user_scenario: { instructions }, evaluation_criteria }: PublishedTask): Task => ({
  id,
  request: typeof instructions === 'string' ? instructions : instructions.reason_for_call,
  actions: (evaluation_criteria?.actions ?? []).map(({ name, arguments: given }) => ({ tool: name, given })),
  facts: evaluation_criteria?.communicate_info ?? [],
});

/**
 * tau²-bench's airline tasks from a clone. Left out are tasks that a script passes by doing nothing: their reference actions change
 * no data, and no fact has to be told. The result of a task is compared with what our tools make of its actions.
 */
export const readPublished = (clone: string): Tasks => {
  const database = readDatabase(join(clone, FOLDER, 'db.json'));
  const published = readJson(join(clone, FOLDER, 'tasks.json')) as readonly PublishedTask[];
  const tasks = published.map(taskOf).filter(({ actions }) => actions.every(({ tool }) => Object.hasOwn(TOOLS, tool)));
  if (tasks.length === 0) throw new Error(`--tasks: ${clone} has no task that our tools can do.`);
  const judged = tasks.flatMap((task) => {
    const { changes, answers } = referenceOf(database, task);
    if (changes === '[]' && task.facts.length === 0) return [];
    return [{ ...task, derived: task.facts.filter((fact) => !answers.includes(fact)) }];
  });
  return { database, tasks: judged };
};
