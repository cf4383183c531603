import { type Database, Store } from './database.ts';
import { type Arguments, RequestError, runTool } from './tools.ts';

export interface Action {
  readonly tool: string;
  readonly given: Arguments;
}

/** What a customer wants, and how it is judged. */
export interface Task {
  readonly id: string;
  readonly request: string;
  /** The calls that do it. */
  readonly actions: readonly Action[];
  /** What the customer has to be told. */
  readonly facts: readonly string[];
  /** Those of them that no tool answers, and that a model works out once all is done. */
  readonly derived?: readonly string[];
}

export interface Tasks {
  readonly database: Database;
  readonly tasks: readonly Task[];
}

/** Runs the reference actions. Gives the changes of the database, and all that the tools answered. */
export const referenceOf = (database: Database, { actions }: Task): { changes: string; answers: string } => {
  const store = new Store(database);
  const answers = actions.map(({ tool, given }) => {
    try {
      return JSON.stringify(runTool(store, tool, given));
    } catch (error) {
      if (error instanceof RequestError) return error.message;
      throw error;
    }
  });
  return { changes: store.changes(), answers: answers.join('\n') };
};

/** A task succeeds if the database is as after the reference actions, and the customer was told each fact. No model judges. */
export const hasSucceeded = (database: Database, task: Task, store: Store, said: string): boolean =>
  store.changes() === referenceOf(database, task).changes && task.facts.every((fact) => said.includes(fact));
