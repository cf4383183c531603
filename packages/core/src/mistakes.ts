import type { BudgetOptions } from './budget/budget.ts';
import { hasWindows } from './circuit/trips/counts.ts';
import type { SessionContext } from './context.ts';
import { groupNameOf } from './groups.ts';
import { isSlip, meant } from './nearest.ts';
import { isExecuted, type Reason } from './reasons.ts';
import type { SessionTool } from './seats.ts';
import { LEAST_SEEN } from './seen-tools.ts';
import { warnIfUnobserved } from './telemetry/started.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked.ts';
import { warnOnce } from './warnings.ts';

/*
 * Mistakes that change nothing and throw nothing, so that the program looks right. A session looks for them now and then, and when it ends.
 * A warning in a correct program is worse than a mistake that is missed.
 */

/** What a session knows of how it is used, when it looks for mistakes. */
export interface Look {
  readonly id: string;
  readonly tools: readonly SessionTool[];
  /** The steps that circuits go by. 0: `step()` was never called. */
  readonly step: number;
  /** How many calls were decided before the step began. */
  readonly decidedBefore: number;
  /** How many calls were decided. */
  readonly decided: number;
  /** The session ends. */
  readonly isOver: boolean;
  /** Milliseconds since the session began here. */
  ageMs(): number;
}

/** Looks after so many decisions, and again each time that they have doubled. */
export const FIRST_LOOK = 3;
const LATER_LOOK = 20;

/** The number of decisions after which the session looks again. */
export const nextLook = (look: number): number => (look < LATER_LOOK ? LATER_LOOK : look * 2);

export const lookForMistakes = (box: SessionContext, look: Look): void => {
  findUnsettled(box, look);
  for (const used of look.tools) {
    findStepless(box, look, used);
    findMisnamed(box, look, used);
  }
  if (look.isOver || look.decided >= LATER_LOOK) warnIfUnobserved();
};

const decisionsOf = ({ tally }: SessionTool): readonly (readonly [Reason, number])[] =>
  Object.entries({ ...tally.decisions, closed: tally.closed }) as [Reason, number][];

const executedOf = (used: SessionTool): number =>
  decisionsOf(used).reduce((sum, [reason, count]) => (isExecuted(reason) ? sum + count : sum), 0);

/** Calls at the same time, and streams that outlive the session (E7), are no mistake: so many of them are, or those of an earlier step. */
const findUnsettled = ({ agent }: SessionContext, { id, tools, decidedBefore, isOver, ageMs }: Look): void => {
  let executed = 0;
  for (const used of tools) {
    const { succeeded, failed, ignored } = used.tally;
    if (succeeded + failed + ignored > 0) return;
    executed += executedOf(used);
  }
  const isEarlier = executed >= 3 && decidedBefore >= 3;
  if (!isEarlier && !(executed >= 20 && (isOver || ageMs() >= 60_000))) return;
  warnOnce(
    'BREAKERBOX_NEVER_SETTLED',
    agent,
    () =>
      `Session '${id}' of agent '${agent}' let ${executed} calls run, and none of them was settled. Circuits and budget see no failure this way. Call permit.settle({ outcome: 'success' }) or permit.settle({ error }) after each call, or wrap the tools with guard() or an adapter.`,
  );
};

/** `probeAfterSteps` alone waits for steps that never come. Several calls of one turn are no mistake. */
const findStepless = ({ agent }: SessionContext, { step, isOver }: Look, used: SessionTool): void => {
  if (step > 0) return;
  const least = isOver ? 5 : 20;
  const waits = (circuit: TrackedCircuit | undefined, skipped = 0): boolean =>
    skipped >= least && circuit?.circuit.state === 'open' && circuit.tool.policy.schedule === 'steps';
  const { decisions } = used.tally;
  const found = [
    waits(used.tracked, decisions?.open) ? used.tracked : undefined,
    waits(used.group, decisions?.group_open) ? used.group : undefined,
  ].find((one) => one !== undefined);
  if (found === undefined) return;
  const { name, policy } = found.tool;
  warnOnce(
    'BREAKERBOX_NO_STEPS',
    `${agent}/${name}`,
    () =>
      `The circuit of '${name}' (agent '${agent}') is open, and waits for probeAfterSteps (${policy.probeAfterSteps}), but session.step() was never called. No probe comes, so the circuit stays open. Call session.step() at the end of each turn, or set cooldownMs as well.`,
  );
};

/** A call of a tool without a circuit is over. A model may make up a name, but hardly calls the same one three times. */
export const warnOfUndeclared = (box: SessionContext, { tool, tally }: SessionTool): void => {
  if (!box.keepsCircuits || tally.decisions?.undeclared === undefined) return;
  if (tally.succeeded + tally.failed !== 3) return;
  const names = [...box.tools()];
  if (groupNameOf(tool) !== undefined || names.length >= LEAST_SEEN) return; // Other warnings say why.
  const { agent } = box;
  warnOnce('BREAKERBOX_UNDECLARED_TOOL', `${agent}/${tool}`, () => {
    const similar = meant(tool, names);
    const hint = similar === undefined ? '' : ` If '${similar}' is meant, correct the name.`;
    return `Agent '${agent}' calls tool '${tool}', which was never declared. It has no circuit: its calls are never skipped.${hint} Else add it to tools in createBreakerbox(), call box.declare('${tool}'), or wrap it with guard() or an adapter.`;
  });
};

/** Tools whose names were compared with those of the configuration: once each. */
const compared = new WeakSet<ToolSpec>();

/** A configured name that is never used, and nearly the same as one that is. */
const findMisnamed = (box: SessionContext, { isOver }: Look, used: SessionTool): void => {
  const { agent, configured, unused } = box;
  const { tool, spec } = used;
  if (spec === undefined || unused.size === 0 || configured.has(tool) || compared.has(spec)) return;
  if (!isOver && executedOf(used) < 3) return;
  compared.add(spec);
  const name = [...unused].find((one) => isSlip(tool, one));
  if (name === undefined) return;
  warnOnce(
    'BREAKERBOX_TOOL_NAME',
    `${agent}/${name}`,
    () =>
      `Agent '${agent}' has settings for tool '${name}', which is never called, and calls '${tool}', which has none. The settings have no effect. If they are for '${tool}', use that name in createBreakerbox({ tools }).`,
  );
};

/** Whether the budget ends before the failures that open a circuit: then it never opens. */
export const warnOfSmallBudget = (
  agent: string,
  { rule, failures = 5 }: BudgetOptions,
  isCorrelating: boolean,
  tools: Iterable<ToolSpec>,
): void => {
  // By the rule `window` one tool alone uses up no budget but one of 1 (B1), and not even that while its failures are provisional (S3).
  const isSmall = rule === 'strict' || (failures === 1 && !isCorrelating);
  if (!isSmall) return;
  const isNeverOpened = ({ mode, policy }: ToolSpec): boolean =>
    mode === 'automatic' &&
    !hasWindows(policy) &&
    Number.isFinite(policy.failureThreshold) &&
    failures < policy.failureThreshold;
  const found = [...tools].find(isNeverOpened);
  if (found === undefined) return;
  warnOnce(
    'BREAKERBOX_BUDGET_TOO_SMALL',
    agent,
    () =>
      `Agent '${agent}' has a failure budget of ${failures}, and tool '${found.name}' needs ${found.policy.failureThreshold} failures in a row to open its circuit. The session pauses before that, so the circuit never opens. Set budget.failures to the highest failureThreshold or more, or lower the threshold.`,
  );
};
