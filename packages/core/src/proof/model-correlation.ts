import type { ErrorCategory, SuspectedLayer } from '../index.ts';
import { ANY_TIME, type ModelCircuit, newCircuit, open } from './model-circuit.ts';
import type { Rules, SystemicRules, When, Within } from './rules.ts';

/** A circuit that left closed and has not closed since; in an event also a tool that failed with a closed circuit. */
export interface ModelOpening {
  readonly id: number;
  readonly tool: string;
  readonly category: ErrorCategory;
  readonly at: When;
  /** S1: how many successes of any tool there had been. */
  readonly successes?: number;
}

/** Failures that are one event, from its beginning to its end. */
export interface ModelEvent {
  readonly id: number;
  readonly openings: readonly ModelOpening[];
  /** S4: what its tools had in common when the last of them joined. */
  readonly tie: 'dependency' | 'group' | undefined;
}

/** Failures beside each other (S1): of a session, or of all sessions that share their circuits. */
export interface Correlation {
  /** After an event is over, those that opened since then. */
  openings: ModelOpening[];
  /** Failures since the last success of any tool. */
  log: ModelOpening[];
  /** How often a tool has succeeded. */
  successes: number;
  event: ModelEvent | undefined;
  /** S5: open while the event lasts, half-open while its probe is under way. */
  gate: ModelCircuit | undefined;
}

/** What correlation depends on. */
export interface Correlating {
  readonly rules: SystemicRules;
  readonly within: Within;
  /** S1: the window of openings of one category. */
  readonly withinTwice: Within;
  /** What tools have in common. */
  readonly common: (tools: readonly string[]) => 'dependency' | 'group' | undefined;
  /** Whether two tools have something that both depend on, or one of them on the other. */
  readonly dependency: (one: string, other: string) => boolean;
  /** Whether the configuration names the tool as an alternative of another one. */
  readonly isAlternative: (tool: string, of: string) => boolean;
  /** C3: whether one failure opens the tool. */
  readonly opensAtOnce: (tool: string) => boolean;
  /** C13: the circuit of a tool's group; of a group, its own. */
  readonly groupOf: (tool: string) => string | undefined;
  /** C12: whether the circuits are those of many sessions. */
  readonly isShared: boolean;
  readonly gate: Rules | undefined;
}

export const newCorrelation = (): Correlation => ({
  openings: [],
  log: [],
  successes: 0,
  event: undefined,
  gate: undefined,
});

/** S1: a failure that was no probe. */
export const logFailure = (correlation: Correlation, failure: ModelOpening, around: Correlating): void => {
  if (correlation.event !== undefined) return;
  const { rules, within } = around;
  const recent = [...correlation.log.filter(({ at }) => within(at, failure.at)), failure];
  const same = recent.filter(({ tool, category }) => tool === failure.tool && category === failure.category);
  // More of one tool and category prove nothing more.
  const forgotten = same.slice(0, -Math.max(rules.sharedFailures, rules.mixedFailures));
  correlation.log = recent.filter((one) => !forgotten.includes(one));
  const { log } = correlation;
  const alike = log.filter(({ category }) => category === failure.category && category !== 'unknown'); // O6
  const isEvent = (some: readonly ModelOpening[], least: number) =>
    some.length >= least && sourcesOf(some, around) >= rules.sharedTools;
  if (isEvent(alike, rules.sharedFailures)) setEvent(correlation, failure.id, inBrief(correlation, alike), around);
  else if (isEvent(log, rules.mixedFailures))
    setEvent(correlation, failure.id, unlike(inBrief(correlation, log), log), around);
};

/** S4: each tool once, with its opening if it is open, and else with its first failure. */
const inBrief = ({ openings }: Correlation, failures: readonly ModelOpening[]): readonly ModelOpening[] => {
  const tools = [...new Set(failures.map(({ tool }) => tool))];
  return tools.flatMap((tool) => [...openings, ...failures].find((one) => one.tool === tool) ?? []);
};

/** S1: an event of mixed failures is of no one category, so that one tool of it shows another. */
const unlike = (tools: readonly ModelOpening[], failures: readonly ModelOpening[]): readonly ModelOpening[] => {
  const [first] = tools;
  if (tools.some(({ category }) => category !== first?.category)) return tools;
  const other = failures.find(({ category }) => category !== first?.category);
  return tools.map((one) => (one.tool === other?.tool ? other : one));
};

/** S1: a tool with a circuit succeeded. That an alternative works where its tool does not says nothing. */
export const logSuccess = (correlation: Correlation, tool: string, around: Correlating | undefined): void => {
  const isExpected = correlation.openings.some((one) => around?.isAlternative(tool, one.tool));
  if (isExpected) return;
  correlation.log = [];
  correlation.successes += 1;
};

/** S1: a circuit opened. It joins an event, makes one, or is only listed. */
export const recordOpening = (
  correlation: Correlation,
  opening: ModelOpening,
  around: Correlating | undefined,
): void => {
  if (correlation.openings.some(({ tool }) => tool === opening.tool)) return; // A failed probe.
  correlation.openings.push({ ...opening, successes: correlation.successes });
  if (around === undefined) return;
  const { event } = correlation;
  if (event !== undefined) {
    if (!joins(event, opening, around)) return;
    // It may have been part of it before. C15: a group represents its members.
    const others = event.openings.filter(({ tool }) => tool !== opening.tool && around.groupOf(tool) !== opening.tool);
    setEvent(correlation, event.id, [...others, opening], around);
    return;
  }
  const found = clauses(correlation, opening, around).find(([some, least]) => sourcesOf(some, around) >= least);
  if (found) setEvent(correlation, opening.id, found[0], around);
};

/** S1: openings that are an event if they are so many, the first such clause of all. */
const clauses = (
  { openings, successes, log }: Correlation,
  { tool, category, at }: ModelOpening,
  { rules, within, withinTwice, dependency, opensAtOnce }: Correlating,
): readonly (readonly [some: readonly ModelOpening[], least: number])[] => {
  const together = openings.filter((one) => within(one.at, at));
  const isAlike = (one: ModelOpening) => one.category === category && category !== 'unknown'; // O6
  const alike = together.filter(isAlike);
  const isOurs = (one: ModelOpening) => one.tool === tool;
  const dependent = alike.filter((one) => isOurs(one) || dependency(one.tool, tool));
  // What all tools of a machine need, and not one of them has worked in between.
  const ofMachine = ['network', 'filesystem', 'resource'].includes(category);
  const failedOnce = (name: string) =>
    !name.startsWith('group:') && !opensAtOnce(name) && log.filter((one) => one.tool === name).length === 1;
  const isUnbroken = (one: ModelOpening) =>
    ofMachine && one.successes === successes && !(failedOnce(one.tool) && failedOnce(tool));
  const unbroken = alike.filter((one) => dependent.includes(one) || isUnbroken(one));
  const any = [together, rules.anyCategory] as const;
  if (rules.sameCategory > 3)
    return [[openings.filter((one) => isAlike(one) && withinTwice(one.at, at)), rules.sameCategory], any];
  if (rules.sameCategory === 3)
    return [[openings.filter((one) => isAlike(one) && withinTwice(one.at, at)), 3], [unbroken, 2], any];
  const byChance = category === 'timeout' || category === 'permission';
  return [[alike, byChance ? 3 : 2], [dependent, 2], any];
};

/** S1: tools of one group are one source: they fail together. */
const sourcesOf = (some: readonly ModelOpening[], { groupOf }: Correlating): number =>
  new Set(some.map(({ tool }) => groupOf(tool) ?? tool)).size;

/** C12: where other tools go on, their failures may have another cause. */
const joins = (event: ModelEvent, opening: ModelOpening, { isShared: shared, within }: Correlating): boolean =>
  !shared || (opening.category === categoryOf(event) && within(latestOf(event).at, opening.at));

const setEvent = (correlation: Correlation, id: number, openings: readonly ModelOpening[], around: Correlating) => {
  const event = { id, openings, tie: around.common(openings.map(({ tool }) => tool)) };
  correlation.event = event;
  if (around.gate === undefined) return;
  const { at } = latestOf(event);
  if (correlation.gate === undefined) {
    correlation.gate = newCircuit('', around.gate);
    open(correlation.gate, 'unknown', at, ANY_TIME);
  }
  if (correlation.gate.state === 'open') correlation.gate.waitFrom = at; // S5: it waits from the latest opening.
};

/** The latest opening of an event. */
export const latestOf = ({ openings }: ModelEvent): ModelOpening => {
  const [first, ...others] = openings;
  if (first === undefined) throw new Error('an event has openings');
  return others.reduce((latest, one) => (one.at.ms > latest.at.ms ? one : latest), first);
};

/** O6: `unknown` is no category that tools share. */
export const categoryOf = ({ openings: [first, ...others] }: ModelEvent): ErrorCategory | undefined =>
  first?.category !== 'unknown' && others.every(({ category }) => category === first?.category)
    ? first?.category
    : undefined;

/** S3: whether a failure belongs to an event. */
export const belongs =
  (event: ModelEvent, within: Within) =>
  ({ tool, category, at }: Pick<ModelOpening, 'tool' | 'category' | 'at'>): boolean =>
    event.openings.some((one) => one.tool === tool && within(at, one.at)) ||
    (category === categoryOf(event) && within(at, latestOf(event).at));

/** A circuit closed, or is in an operator's hands now: it is no part of an event to come. */
export const recordClosing = (correlation: Correlation, tool: string): void => {
  correlation.openings = correlation.openings.filter((one) => one.tool !== tool);
};

/** C15: from now on the group represents its members. */
export const absorb = (correlation: Correlation, group: string, isMember: (tool: string) => boolean): void => {
  correlation.openings = correlation.openings.filter(({ tool }) => !isMember(tool));
  const latest = correlation.log.filter(({ tool }) => isMember(tool)).at(-1);
  correlation.log = correlation.log
    .filter((one) => one === latest || !isMember(one.tool))
    .map((one) => (one === latest ? { ...one, tool: group } : one));
};

/** S5: the event is over. What opened or failed during it is no evidence for the next. */
export const endEvent = (correlation: Correlation): void => {
  if (correlation.event === undefined) return;
  correlation.event = undefined;
  correlation.gate = undefined;
  correlation.openings = [];
  correlation.log = [];
};

/** S4. */
const LAYERS: readonly (readonly [SuspectedLayer, readonly ErrorCategory[]])[] = [
  ['network', ['network', 'timeout']],
  ['filesystem', ['filesystem', 'resource']],
  ['permissions', ['permission']],
  ['upstream', ['server', 'rate_limit']],
];

/** S4: what is said of an event. */
export const eventReport = (event: ModelEvent) => ({
  category: categoryOf(event),
  layer:
    event.tie ??
    LAYERS.find(([, of]) => event.openings.every(({ category }) => of.includes(category)))?.[0] ??
    'unknown',
  openings: event.openings.map(({ tool, category, at }) => `${tool} ${category} @${at.step} ${at.ms}`),
});
