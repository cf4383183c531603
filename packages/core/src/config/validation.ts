import type { BudgetOptions } from '../budget/budget.ts';
import { recoveryChecks } from '../budget/recovery.ts';
import { type Capability, checkCapabilityMap } from '../routing/capability.ts';
import {
  type Check,
  functions,
  list,
  name,
  number,
  object,
  oneOf,
  orLeaveOut,
  reject,
  shortName,
  toolName,
} from './checks.ts';
import type { BreakerboxConfig, RestoreOptions, SessionOptions, ToolConfig } from './config.ts';
import type { ConfigIssue } from './errors.ts';
import { checkDefaults, checkGroups, checkTool, checkTools, notAGroup } from './tool-checks.ts';

/** Rejects a configuration that can't work. One error lists everything that is wrong (E6). */
export const validateConfig = (config: BreakerboxConfig): void => reject(checkConfig('', config));

/** The same check for the options of one session. */
export const validateSessionOptions = (options: SessionOptions): void => reject(sessionChecks('session', options));

/** The same check for the options of `restore`. */
export const validateRestoreOptions = (options: RestoreOptions): void =>
  reject(object(restoreChecks, "{ allowedTools: ['web_search'] }")('restore', options));

/** The same check for a tool that is declared later, together with the tools that already exist. */
export const validateTool = (
  tool: string,
  config: ToolConfig,
  defaults: ToolConfig,
  others: () => Readonly<Record<string, Capability>>,
): void => {
  reject([...name('tool', tool), ...notAGroup('tool', tool)]);
  reject(checkTools(defaults)('tools', { [tool]: config }));
  // A tool that points to no other tool closes no cycle. This keeps declaring thousands of tools one by one fast.
  if (config.alternatives === undefined && config.dependsOn === undefined) return;
  reject(checkCapabilityMap({ ...others(), [tool]: config }));
};

const budgetSettings = object(
  {
    rule: oneOf(['window', 'strict'], orLeaveOut('failures leave the budget after its window.')),
    failures: number(1, orLeaveOut('with 0 the session would pause before its first call.'), { whole: true }),
    tokens: number(1, orLeaveOut('failed calls may cost any number of tokens then.'), { whole: true }),
    windowSteps: number(1, orLeaveOut('a failure counts for that many steps.'), { whole: true }),
    windowMs: number(0, orLeaveOut('a failure counts for that long.'), { above: true }),
  } satisfies Record<keyof BudgetOptions, Check>,
  "{ failures: 5 }, or 'strict'",
);

const checkBudget: Check = (path, value) => {
  if (value === 'strict') return [];
  const issues = budgetSettings(path, value);
  if (issues.length > 0) return issues;
  const { rule, ...rest } = value as BudgetOptions;
  if (rule !== 'strict') return [];
  const useless = (['windowSteps', 'windowMs'] as const).filter((key) => rest[key] !== undefined);
  return useless.map((key) => ({
    path: `${path}.${key}`,
    message: "has no effect with rule 'strict', which has no window. Remove it, or set rule 'window'.",
  }));
};

const allowedTools = list(toolName, "['web_search']");
const span = oneOf([true, false], orLeaveOut('the session has no span then.'));

const restoreChecks = {
  allowedTools,
  span,
  elapsedMs: number(0, orLeaveOut('the wall clock says how much time has passed.')),
} satisfies Record<keyof RestoreOptions, Check>;

const sessionChecks = object({ id: shortName, budget: checkBudget, allowedTools, span }, "{ id: 'conversation-7' }");

const checkLoopGuard = object(
  { repeats: number(1, orLeaveOut('a call is skipped after that many failures in a row.'), { whole: true }) },
  '{ repeats: 3 }, false for none, or leave it out',
);

const fewest = number(2, orLeaveOut('one circuit alone is never systemic.'), { whole: true });

const checkSystemic: Check = (path, value) =>
  value === false
    ? []
    : object(
        {
          sameCategory: fewest,
          anyCategory: fewest,
          sharedFailures: fewest,
          sharedTools: fewest,
          pause: oneOf(
            ['all', 'affected'],
            orLeaveOut("an event then pauses all tools, or with scope 'process' the affected ones."),
          ),
          windowSteps: number(1, orLeaveOut('openings so many steps apart belong together.'), { whole: true }),
          windowMs: number(0, orLeaveOut('openings so close in time belong together.'), { above: true }),
          recovery: recoveryChecks,
        },
        '{ sameCategory: 2 }, false for none, or leave it out',
      )(path, value);

/** Says where a misplaced key belongs. */
const unknownOption = (key: string): string =>
  key === 'capabilities' ? "is no setting: tools takes what loadCapabilities() gives as its 'tools'" : 'is no setting';

/** Checks the settings that only make sense if sessions share their circuits (S2, S5). */
const checkScope = ({ scope = 'session', systemic }: BreakerboxConfig): readonly ConfigIssue[] => {
  if (scope === 'process' || systemic === false || systemic === undefined) return [];
  const need = "needs scope 'process', where sessions share their circuits. Set scope: 'process', or leave it out.";
  return [
    ...(systemic.pause === 'affected' ? [{ path: 'systemic.pause', message: `is 'affected', which ${need}` }] : []),
    ...(systemic.recovery?.probeAfterMs === undefined
      ? []
      : [{ path: 'systemic.recovery.probeAfterMs', message: need }]),
  ];
};

const checkConfig: Check = (path, value) => {
  const { agent, defaults, tools } = (value ?? {}) as Partial<BreakerboxConfig>;
  const sound = defaults !== undefined && checkTool({})('', defaults).length === 0 ? defaults : {};
  const checks = {
    agent: shortName,
    tools: checkTools(sound),
    groups: checkGroups,
    defaults: checkDefaults,
    budget: checkBudget,
    systemic: checkSystemic,
    scope: oneOf(['session', 'process', 'none'], orLeaveOut('each session has circuits of its own then.')),
    loopGuard: (at, one) => (one === false ? [] : checkLoopGuard(at, one)),
    allowedTools,
    precheckMaxAgeMs: number(0, orLeaveOut('a pre-call check is asked again after that time.'), { above: true }),
    chainBackoffMs: number(0, orLeaveOut('it bounds the waits of tools that depend on one another.'), { above: true }),
    maxTools: number(1, orLeaveOut('it bounds how many series are exported.'), { whole: true }),
    sessionIdleMs: number(0, orLeaveOut('an idle session leaves the gauges after that time.'), { above: true }),
    clock: functions(['now', 'unixNow'], 'both give milliseconds.'),
  } satisfies Record<keyof BreakerboxConfig, Check>;
  const issues = object(checks, "{ agent: 'research-agent' }", unknownOption)(path, value);
  return [
    ...issues,
    ...(issues.length > 0 ? [] : checkScope(value as BreakerboxConfig)),
    ...(agent === undefined ? shortName('agent', agent) : []),
    ...checkCapabilityMap(tools),
  ];
};
