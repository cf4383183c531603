import {
  AS_WRITTEN,
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
  writtenCount,
} from '../checks/checks.ts';
import { MOST_KEYS } from '../circuit/key-circuits.ts';
import { ownTools } from '../config/validation.ts';
import { circuit, ledger, unixMs } from './circuit-format.ts';
import { checkRun } from './run-format.ts';
import {
  type CircuitSnapshot,
  type KeySnapshot,
  type LedgerSnapshot,
  MOST_SUCCEEDED,
  type SessionSnapshot,
  type StrictBudgetSnapshot,
} from './session-snapshot.ts';

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

const names: Check = (path, value) =>
  Array.isArray(value) && value.length > MOST_SUCCEEDED
    ? [{ path, message: `has ${value.length} names. Give at most ${MOST_SUCCEEDED}, as snapshot() does.` }]
    : list(shortName)(path, value);

const snapshotChecks = {
  version: oneOf([1], AS_WRITTEN),
  agent: shortName,
  id: shortName,
  unixMs: unixMs.check,
  step: writtenCount,
  stepAgeMs: number(0, AS_WRITTEN, { most: 2 ** 50 }),
  ledger: ledger.check,
  dryRun: nullable(ledger.check),
  circuits: list(circuit.check),
  succeeded: optional(names),
  run: optional(checkRun),
  tools: optional(ownTools),
} satisfies Record<keyof SessionSnapshot, Check>;

/** Faults that no single field shows. */
const contradictions = (snapshot: SessionSnapshot, agent: string): readonly ConfigIssue[] => {
  const { circuits, dryRun } = snapshot;
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
    ...unbalanced('snapshot.ledger', snapshot.ledger),
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

const unbalanced = (path: string, { budget: one, openings, event, paid }: LedgerSnapshot) => {
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
