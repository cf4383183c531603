import type { EarlierCharges } from '../budget/strict.ts';
import { CIRCUIT_MODES } from '../circuit/circuit.ts';
import { MOST_KEYS } from '../circuit/key-circuits.ts';
import type { Ladder } from '../circuit/schedule.ts';
import { checkCounts, TRIPS } from '../circuit/trip-policies/trip-policies.ts';
import { ERROR_CATEGORIES } from '../classify/taxonomy.ts';
import {
  AS_WRITTEN,
  anyName,
  type Check,
  type ConfigIssue,
  complete,
  gather,
  isRecord,
  list,
  nullable,
  number,
  oneOf,
  optional,
  reject,
  shortName,
  show,
  toolName,
  writtenCount,
} from '../config/checks.ts';
import type {
  ChargeSnapshot,
  CircuitSnapshot,
  FailedMomentSnapshot,
  KeySnapshot,
  LedgerSnapshot,
  MomentSnapshot,
  OpeningSnapshot,
  OutageSnapshot,
  ProvisionalSnapshot,
  SessionSnapshot,
  StrictBudgetSnapshot,
  WindowBudgetSnapshot,
  WindowChargeSnapshot,
} from './snapshot.ts';
import { MOST_SUCCEEDED } from './snapshot.ts';

/** A snapshot is not written by hand: more faults say no more. */
const MOST_FAULTS = 10;

/** Rejects a value that is not a snapshot of this agent's session. The error lists the first ten faults (C11). */
export const checkSnapshot = (value: unknown, agent: string): SessionSnapshot => {
  reject(
    issuesOf(value, agent),
    'snapshot. Restore it as snapshot(session) wrote it, or begin a new session. What is wrong with it',
    MOST_FAULTS,
  );
  return value as SessionSnapshot;
};

const issuesOf = (value: unknown, agent: string): readonly ConfigIssue[] => {
  if (!isRecord(value)) {
    const fix = 'Give the object that snapshot(session) returned. If you stored it as JSON, parse it first.';
    return [{ path: 'snapshot', message: `is ${show(value)}. ${fix}` }];
  }
  const { version } = value;
  if (typeof version === 'number' && version !== 1) {
    const fix = 'Restore it with the version of Breakerbox that wrote it, or begin a new session.';
    return [
      {
        path: 'snapshot.version',
        message: `is ${version}, but this release of Breakerbox reads only version 1. ${fix}`,
      },
    ];
  }
  const issues = complete(snapshotChecks)('snapshot', value);
  return issues.length > 0 ? issues : contradictions(value as unknown as SessionSnapshot, agent);
};

/** Far more than any session reaches, and far less than where adding 1 changes nothing. */
const MOST = 2 ** 50;
const count = writtenCount;
const positive = number(1, AS_WRITTEN, { whole: true, most: MOST });
const ms = number(0, AS_WRITTEN, { most: MOST });
const tokens = number(0, AS_WRITTEN, { most: Number.MAX_SAFE_INTEGER });
const unixMs = number(0, AS_WRITTEN, { most: Number.MAX_SAFE_INTEGER });
const yesOrNo = oneOf([true, false], AS_WRITTEN);
const category = oneOf(ERROR_CATEGORIES, AS_WRITTEN);

const hex =
  (digits: number, form = /^[0-9a-f]+$/i): Check =>
  (path, value) =>
    typeof value === 'string' && value.length === digits && form.test(value)
      ? []
      : [{ path, message: `is ${show(value)}. Set ${digits} hexadecimal digits${AS_WRITTEN}` }];

const moment = complete({ step: count, ageMs: ms } satisfies Checks<MomentSnapshot>);
const failedMoment = complete({
  step: count,
  ageMs: ms,
  calls: optional(count),
} satisfies Checks<FailedMomentSnapshot>);

const opening = complete({ tool: anyName, category, at: moment, unixMs } satisfies Checks<OpeningSnapshot>);

const charge = { tool: anyName, category, tokens, at: moment };

const outage = complete({
  category,
  trip: nullable(oneOf(TRIPS, AS_WRITTEN)),
  opened: moment,
  waitMs: ms,
  waitFrom: nullable(moment),
  rung: optional(count),
  ladder: nullable(complete({ rung: count, dueStep: count } satisfies Checks<Ladder>)),
  probedBy: nullable(anyName),
} satisfies Checks<OutageSnapshot>);

const budget = { limit: positive, tokenLimit: nullable(positive), cycle: positive, consumed: count };

const windowBudget = complete({
  ...budget,
  rule: oneOf(['window'], AS_WRITTEN),
  windowSteps: positive,
  windowMs: ms,
  windowCalls: optional(positive),
  charges: list(
    complete({
      tool: anyName,
      category,
      at: failedMoment,
      provisional: yesOrNo,
      event: yesOrNo,
      since: nullable(oneOf(['success', 'closing'], AS_WRITTEN)),
      uncapped: yesOrNo,
      count: positive,
    } satisfies Checks<WindowChargeSnapshot>),
  ),
  spent: list(complete({ at: failedMoment, tokens })),
} satisfies Checks<WindowBudgetSnapshot>);

const strictBudget = complete({
  ...budget,
  rule: oneOf(['strict'], AS_WRITTEN),
  granted: count,
  charges: list(complete({ ...charge, event: yesOrNo } satisfies Checks<ChargeSnapshot>)),
  earlier: optional(complete({ failures: count, tokens, priced: count } satisfies Checks<EarlierCharges>)),
  provisional: list(complete({ ...charge, beside: nullable(count) } satisfies Checks<ProvisionalSnapshot>)),
} satisfies Checks<StrictBudgetSnapshot>);

const anyBudget: Check = (path, value) =>
  ((value ?? {}) as { rule?: unknown }).rule === 'strict' ? strictBudget(path, value) : windowBudget(path, value);

const ledger = complete({
  budget: anyBudget,
  exhausted: yesOrNo,
  openings: list(opening),
  sinceSuccess: optional(list(anyName)),
  failures: list(opening),
  event: nullable(list(opening)),
  paid: yesOrNo,
} satisfies Checks<LedgerSnapshot>);

const state = {
  state: oneOf(['closed', 'open', 'half_open'], AS_WRITTEN),
  generation: count,
  counts: checkCounts,
  succeeded: count,
  retryAfterMs: ms,
  outage: nullable(outage),
};

const circuit = complete({
  ...state,
  tool: toolName,
  mode: oneOf(CIRCUIT_MODES, AS_WRITTEN),
  latest: nullable(category),
  openedBy: nullable(complete({ traceId: hex(32), spanId: hex(16), traceFlags: count })),
  keys: optional(list(complete({ ...state, key: hex(32, /^[0-9a-f]+$/) } satisfies Checks<KeySnapshot>))),
} satisfies Checks<CircuitSnapshot>);

const names: Check = (path, value) =>
  Array.isArray(value) && value.length > MOST_SUCCEEDED
    ? [{ path, message: `has ${value.length} names. Give at most ${MOST_SUCCEEDED}, as snapshot() does.` }]
    : list(shortName)(path, value);

const snapshotChecks = {
  version: oneOf([1], AS_WRITTEN),
  agent: shortName,
  id: shortName,
  unixMs,
  step: count,
  stepAgeMs: ms,
  ledger,
  dryRun: nullable(ledger),
  circuits: list(circuit),
  succeeded: optional(names),
} satisfies Checks<SessionSnapshot>;

type Checks<T> = Record<keyof T, Check>;

/** Faults that no single field shows. */
const contradictions = (snapshot: SessionSnapshot, agent: string): readonly ConfigIssue[] => {
  const { circuits, ledger, dryRun } = snapshot;
  const issues: ConfigIssue[] = [];
  if (snapshot.agent !== agent) {
    const message = `is ${show(snapshot.agent)}, but this box is of agent ${show(agent)}. Restore the snapshot with the box of agent ${show(snapshot.agent)}.`;
    issues.push({ path: 'snapshot.agent', message });
  }
  return [
    ...issues,
    ...twice('snapshot.circuits', 'tool', circuits, 'Keep one circuit for each tool.'),
    ...unlikely('snapshot.circuits', circuits),
    ...gather(circuits, ({ keys = [] }, index) => unlikelyKeys(`snapshot.circuits[${index}].keys`, keys)),
    ...unbalanced('snapshot.ledger', ledger),
    ...(dryRun ? unbalanced('snapshot.dryRun', dryRun) : []),
  ];
};

/** Circuits whose state contradicts what they know of their failure. */
const unlikely = (path: string, circuits: readonly Pick<CircuitSnapshot, 'state' | 'outage'>[]) =>
  gather(circuits, ({ state: one, outage: kept }, index) => {
    if ((one === 'closed') === (kept === null)) return [];
    const message = `is ${kept === null ? 'null' : 'set'}, but state is ${one}. A closed circuit has outage null, and any other circuit has an outage.`;
    return [{ path: `${path}[${index}].outage`, message }];
  });

const unlikelyKeys = (path: string, keys: readonly KeySnapshot[]): readonly ConfigIssue[] => {
  const message = `has ${keys.length} keys. A tool has at most ${MOST_KEYS} keys. Remove the others.`;
  return [
    ...(keys.length > MOST_KEYS ? [{ path, message }] : []),
    ...twice(path, 'key', keys, 'Keep one circuit for each key.'),
    ...unlikely(path, keys),
  ];
};

const unbalanced = (path: string, ledger: LedgerSnapshot) => {
  const { budget: one, openings, event, paid } = ledger;
  const once = 'Keep one opening for each tool.';
  const issues = [
    ...twice(`${path}.openings`, 'tool', openings, once),
    ...twice(`${path}.event`, 'tool', event ?? [], once),
  ];
  if (one.rule === 'strict') issues.push(...contradictionsOf(`${path}.budget`, one, openings.length));
  if (event?.length === 0) issues.push({ path: `${path}.event`, message: 'is empty. Give its openings, or null.' });
  if (paid && event === null) {
    issues.push({
      path: `${path}.paid`,
      message: 'is true, but event is null. Set paid to false, or add the event.',
    });
  }
  return issues;
};

const contradictionsOf = (
  path: string,
  { limit, granted, consumed, provisional }: StrictBudgetSnapshot,
  openings: number,
): readonly ConfigIssue[] => {
  const astray = gather(provisional, ({ beside }, index) => {
    if (beside === null || beside < openings) return [];
    const message = `is ${beside}, but there are ${openings} openings. Give the index of one, or null.`;
    return [{ path: `${path}.provisional[${index}].beside`, message }];
  });
  if (granted - consumed <= limit) return astray;
  const message = `is ${granted}, so ${granted - consumed} failures would be left, more than the budget of ${limit}. At most ${limit + consumed} can have been granted.`;
  return [{ path: `${path}.granted`, message }, ...astray];
};

const twice = <Field extends string>(
  path: string,
  field: Field,
  many: readonly Readonly<Record<Field, string>>[],
  fix: string,
): readonly ConfigIssue[] => {
  const seen = new Set<string>();
  return gather(many, ({ [field]: one }, index) => {
    if (!seen.has(one)) {
      seen.add(one);
      return [];
    }
    return [{ path: `${path}[${index}].${field}`, message: `is ${show(one)}, which is in the list twice. ${fix}` }];
  });
};
