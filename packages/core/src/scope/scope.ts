import {
  BreakerboxUsageError,
  type Check,
  type ConfigIssue,
  gather,
  isRecord,
  list,
  show,
  text,
} from '../checks/checks.ts';
import { shortened } from '../checks/names.ts';
import { NO_CALL } from '../engine/barrier.ts';
import { isForNow, type RejectionFacts, waitOf } from '../routing/message.ts';
import type { AchievableTask, DeferredTask, ScopePlan, TaskBlocker } from '../routing/route.ts';
import { describeWait, quoteTool } from '../routing/wording.ts';
import type { Session } from '../session-api.ts';
import { sessionInternals } from '../session-internals.ts';

/** A part of the agent's work, with the tools that it needs (W1). */
export interface Task {
  readonly name: string;
  readonly tools: readonly string[];
}

/**
 * Splits tasks into those that can be done now, with alternatives if needed, and those that have to wait. Each waiting task says
 * what would unblock it (W1). Waiting tasks, and tasks that an alternative does, are counted and reported. Every task is in the
 * plan exactly once.
 *
 * @throws BreakerboxUsageError if `session` is not a session, or `tasks` is not a list of tasks.
 *
 * @example
 * ```ts
 * const plan = planScope(session, [{ name: 'prices', tools: ['web_search'] }, { name: 'refund', tools: ['orders'] }]);
 * for (const { task } of plan.achievable) await run(task);
 * ```
 */
export const planScope = (session: Session, tasks: readonly Task[]): ScopePlan => {
  const inside = sessionInternals(session, 'planScope(session, tasks)');
  checkTasks(tasks);
  return inside.makePlan((decider, at, run) =>
    planTasks(tasks, (tool) => decider.predict(shortened(tool), { ...NO_CALL, run }, at)),
  );
};

/** W1: a task is achievable if each of its tools can be called or has a usable alternative. */
const planTasks = (tasks: readonly Task[], now: (tool: string) => RejectionFacts): ScopePlan => {
  const achievable: AchievableTask[] = [];
  const deferred: DeferredTask[] = [];
  for (const { name, tools } of tasks) {
    const degraded: AchievableTask['degraded'][number][] = [];
    const blockers: TaskBlocker[] = [];
    for (const tool of new Set(tools)) {
      const facts = now(tool);
      const { reason, route } = facts;
      if (route?.kind === 'alternative') degraded.push({ tool, route });
      else if (route !== undefined && !isForNow(facts))
        blockers.push({ tool, reason, route, unblock: unblockText(facts) });
    }
    if (blockers.length === 0) achievable.push({ task: name, degraded });
    else deferred.push({ task: name, blockers });
  }
  const reduced = achievable.length === 0 ? 'pause' : 'reduce';
  return { decision: deferred.length === 0 ? 'proceed' : reduced, achievable, deferred };
};

/** W1: what would unblock a tool: the end of a sentence that begins 'it can go on once …'. */
const unblockText = (facts: RejectionFacts): string => {
  const name = quoteTool(facts.tool);
  const wait = waitOf(facts);
  const due = wait === undefined ? '' : ` (due ${describeWait(wait, facts.takesTurns)})`;
  const confirmed = 'a person confirms the recovery: session.confirmRecovered()';
  switch (facts.reason) {
    case 'open':
      return `a probe of ${name} succeeds${due}`;
    case 'group_open':
      return `a probe of a tool in the group of ${name} succeeds${due}`;
    case 'probe_in_flight':
      return `the probe for ${name} that is under way succeeds`;
    case 'forced_open':
      return `an operator switches ${name} on again`;
    case 'not_allowed':
      return `${name} is added to allowedTools`;
    case 'unavailable':
      return `the pre-call check of ${name} passes`;
    case 'budget_exhausted':
      return 'a person resumes the session: session.resume()';
    case 'limit_reached':
      return 'a person extends the limit: session.extend(limit, by)';
    default: // systemic: a plan knows no arguments, so neither a key nor a repeated call rejects it.
      return wait === undefined ? confirmed : `a probe of an affected tool succeeds${due}, or ${confirmed}`;
  }
};

const A_TASK = "{ name: 'summary', tools: ['web_search'] }";

/** Tasks may have more fields than their plan needs. */
const task: Check = (path, value) => {
  if (!isRecord(value)) return [{ path, message: `is ${show(value)}. Give an object such as ${A_TASK}.` }];
  const { name, tools } = value as Partial<Record<keyof Task, unknown>>;
  return [...taskName(`${path}.name`, name), ...taskTools(`${path}.tools`, tools)];
};

const taskName = text('the plan refers to each task by its name.');
const taskTools = list(text('it is the name of a tool that the task needs.'), "['web_search']");

const sameNames = (tasks: readonly Task[]): readonly ConfigIssue[] => {
  const firsts = new Map<string, number>();
  return gather(tasks, ({ name }, index) => {
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, index);
    if (first === undefined) return [];
    const message = `is ${show(name)}, which is also the name of tasks[${first}]. Each task needs its own name: rename one of them.`;
    return [{ path: `tasks[${index}].name`, message }];
  });
};

const checkTasks = (tasks: unknown): void => {
  const wrong = list(task, `[${A_TASK}]`)('tasks', tasks);
  const issues = wrong.length > 0 ? wrong : sameNames(tasks as readonly Task[]);
  if (issues.length === 0) return;
  const lines = issues.map(({ path, message }) => `  ${path} ${message}`);
  throw new BreakerboxUsageError(`planScope(session, tasks): these tasks can't be planned.\n${lines.join('\n')}`);
};
