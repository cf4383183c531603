import { type Check, isObject, list, show } from '../checks.ts';
import { BreakerboxUsageError, type ConfigIssue } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import type { AlternativeRoute, Route } from './route.ts';
import { text } from './text.ts';

/** A part of the agent's work, with the tools that it needs (W1). */
export interface Task {
  readonly name: string;
  readonly tools: readonly string[];
}

/** A task that can be done now. */
export interface AchievableTask {
  readonly task: string;
  /** Tools that are unavailable, with their alternatives; empty if all tools are available. */
  readonly degraded: readonly { readonly tool: string; readonly route: AlternativeRoute }[];
}

/** A task that has to wait. */
export interface DeferredTask {
  readonly task: string;
  readonly blockers: readonly TaskBlocker[];
}

/** A tool that blocks a task. */
export interface TaskBlocker {
  readonly tool: string;
  /** Why a call of it would be skipped or paused now. */
  readonly reason: Reason;
  /** Never an alternative: no alternative was usable. */
  readonly route: Exclude<Route, AlternativeRoute>;
  /** What would unblock it: the end of a sentence that begins 'it can go on once …'. */
  readonly unblock: string;
}

/** Which tasks can be done now, and which can't (W1). */
export interface ScopePlan {
  /** `proceed`: do all tasks. `reduce`: do the achievable ones. `pause`: none is achievable. */
  readonly decision: 'proceed' | 'reduce' | 'pause';
  readonly achievable: readonly AchievableTask[];
  readonly deferred: readonly DeferredTask[];
}

/** Whether a tool can be called now, and if not, what to do about it. */
export type Outlook =
  | { readonly out: false }
  | {
      readonly out: true;
      /** Why a call would be skipped or paused. */
      readonly reason: Reason;
      readonly route: Route;
      /** What would unblock it. */
      readonly unblock: string;
    };

/**
 * W1: splits tasks by their tools. A task is achievable if each of its tools can be called or has a usable alternative. For any
 * other task, the plan names each tool that blocks it. Every task is in the plan exactly once (W2).
 */
export const planScope = (
  tasks: readonly Task[],
  { outlook }: { readonly outlook: (tool: string) => Outlook },
): ScopePlan => {
  const achievable: AchievableTask[] = [];
  const deferred: DeferredTask[] = [];
  for (const { name, tools } of tasks) {
    const degraded: AchievableTask['degraded'][number][] = [];
    const blockers: TaskBlocker[] = [];
    for (const tool of new Set(tools)) {
      const now = outlook(tool);
      if (!now.out) continue;
      const { reason, route, unblock } = now;
      if (route.kind === 'alternative') degraded.push({ tool, route });
      else blockers.push({ tool, reason, route, unblock });
    }
    if (blockers.length === 0) achievable.push({ task: name, degraded });
    else deferred.push({ task: name, blockers });
  }
  return { decision: decide(achievable, deferred), achievable, deferred };
};

const decide = (achievable: readonly AchievableTask[], deferred: readonly DeferredTask[]): ScopePlan['decision'] => {
  if (deferred.length === 0) return 'proceed';
  return achievable.length === 0 ? 'pause' : 'reduce';
};

const A_TASK = "{ name: 'summary', tools: ['web_search'] }";

/** Tasks may have more fields than their plan needs. */
const task: Check = (path, value) => {
  if (!isObject(value)) return [{ path, message: `is ${show(value)}. Give an object such as ${A_TASK}.` }];
  const { name, tools } = value as Partial<Record<keyof Task, unknown>>;
  return [...taskName(`${path}.name`, name), ...taskTools(`${path}.tools`, tools)];
};

const taskName = text('the plan says by it which task it means.');
const taskTools = list(text('it is the name of a tool that the task takes.'), "['web_search']");

const sameNames = (tasks: readonly unknown[]): readonly ConfigIssue[] => {
  const names = tasks.map((one) => (one as Partial<Task> | null | undefined)?.name);
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== 'string' || first === index) return [];
    const message = `is ${show(name)}, as tasks[${first}].name is: the plan couldn't tell them apart. Rename one of them.`;
    return [{ path: `tasks[${index}].name`, message }];
  });
};

/** Rejects a value that is not a list of tasks, with a {@link BreakerboxUsageError} that lists everything wrong in it. */
export const checkTasks = (tasks: unknown): void => {
  const issues = [...list(task, `[${A_TASK}]`)('tasks', tasks), ...(Array.isArray(tasks) ? sameNames(tasks) : [])];
  if (issues.length === 0) return;
  const lines = issues.map(({ path, message }) => `  ${path} ${message}`);
  throw new BreakerboxUsageError(`session.planScope(tasks): these tasks can't be planned.\n${lines.join('\n')}`);
};
