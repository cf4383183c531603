import {
  byHost,
  classifyError,
  classifyResult,
  createBreakerbox,
  describeFreshness,
  labelled,
  type Session,
} from '@breakerbox/core';
import { operate, reconfigure } from '@breakerbox/core/control';
import {
  formatPauseReport,
  formatPlanReport,
  formatReport,
  formatStateTable,
  formatSystemicReport,
  report,
} from '@breakerbox/core/report';
import { parseCapabilities, planScope, validateCapabilities } from '@breakerbox/core/scope';
import { restore, snapshot } from '@breakerbox/core/snapshot';

/** Input of the wrong type is the point. */
type Outside = never;

const box = () =>
  createBreakerbox({
    agent: 'agent',
    tools: { search: { serveStaleMs: 60_000, isFailure: () => false }, other: {} },
  });

/** A run with limits, and its box. */
const limited = () => {
  const of = createBreakerbox({ agent: 'agent', tools: { search: {} }, limits: { calls: 10, tokens: 1_000 } });
  return { of, run: of.session() };
};

/** A session in which `search` is open. */
export const failing = (): Session => {
  const session = box().session();
  for (let call = 0; call < 5; call += 1) {
    session.acquire('search').settle({ outcome: 'failure', category: 'server' });
    session.acquire('other').settle({ outcome: 'failure', category: 'server' });
  }
  return session;
};

const settled = (settlement: unknown): void => {
  const session = box().session();
  session.acquire('search').settle(settlement as Outside);
};

const formats = { formatPauseReport, formatReport, formatPlanReport, formatStateTable, formatSystemicReport };

/** Every function and method of core that takes outside input. `run` gets any value, of any type. */
export const CORE_ENTRIES: Readonly<Record<string, (value: unknown) => unknown>> = {
  byHost: (value) => byHost()(value),
  classifyError: (value) => classifyError(value),
  classifyResult: (value) => classifyResult(value),
  createBreakerbox: (value) => createBreakerbox(value as Outside),
  describeFreshness: (value) => describeFreshness(value as Outside),
  labelled: (value) => labelled(value, value as Outside),
  parseCapabilities: (value) => parseCapabilities(value as Outside),
  validateCapabilities: (value) => validateCapabilities(value),
  planScope: (value) => planScope(box().session(), value as Outside),
  operate: (value) => operate(value as Outside),
  'Operator.force': (value) => {
    operate(box()).force('search', { mode: 'disabled', owner: value as Outside, reason: value as Outside });
    operate(box()).force(value as Outside, value as Outside);
  },
  'Operator.release': (value) =>
    operate(box()).release('search', { owner: value as Outside, session: value as Outside }),
  'Operator.leftMs': (value) => operate(box()).leftMs(value as Outside),
  'Operator.knows': (value) => operate(box()).knows(value as Outside),
  'Operator.session': (value) => operate(box()).session(value as Outside),
  'Operator.count': (value) =>
    operate(box()).count({ action: 'resume', result: 'refused', tool: value as Outside, session: value as Outside }),
  'Operator.resume': (value) => operate(box()).resume(value as Outside, value as Outside),
  'Operator.confirmRecovered': (value) => operate(box()).confirmRecovered(value as Outside, value as Outside),
  'Operator.extend': (value) => {
    const { of, run } = limited();
    operate(of).extend(value as Outside, value as Outside, value as Outside, value as Outside);
    operate(of).extend(run.id, 'calls', 1, value as Outside);
  },
  reconfigure: (value) => reconfigure(box(), (config) => ({ ...config, tools: value as Outside })),
  report: (value) => report(failing(), value as Outside),
  restore: (value) => restore(box(), value),
  ...Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [name, (value: unknown) => format(value as Outside)]),
  ),
  snapshot: (value) => {
    const session = box().session({ id: value as Outside });
    return snapshot(session);
  },
  'Breakerbox.declare': (value) => box().declare(value as Outside, value as Outside),
  'Breakerbox.on': (value) => box().on(value as Outside, value as Outside),
  'Breakerbox.session': (value) => box().session(value as Outside),
  'Session.acquire': (value) => {
    const session = box().session();
    session.acquire(value as Outside).settle({ outcome: 'success' });
    session.acquire('search', value as Outside).settle({ outcome: 'success' });
    for (let call = 0; call < 4; call += 1) {
      session.acquire('search', { input: value, key: value as Outside }).settle({ error: new Error('ECONNRESET') });
    }
  },
  'Session.child': (value) => {
    limited().run.child(value as Outside);
    limited().run.child({ id: value as Outside, name: value as Outside, portion: value as Outside });
  },
  'Session.extend': (value) => limited().run.extend(value as Outside, value as Outside),
  'Session.spend': (value) => {
    limited().run.spend(value as Outside);
    limited().run.spend({ tokens: value as Outside, cost: value as Outside });
  },
  'Session.control': (value) =>
    box()
      .session()
      .control(value as Outside, value as Outside),
  'Session.declare': (value) =>
    box()
      .session()
      .declare(value as Outside, value as Outside),
  'Session.explain': (value) => failing().explain('search', value),
  'Session.peek': (value) => failing().peek('search', value),
  'Permit.settle': (value) => {
    settled(value);
    settled({ error: value });
    settled({ outcome: value, category: value, tokens: value, blames: value, freshness: value, retryAfterMs: value });
    settled({ error: new Error('x'), verdict: value, signal: value });
    const session = box().session();
    for (let call = 0; call < 2; call += 1) session.acquire('search', { input: value }).settle({ result: value });
  },
};
