import { type DiagLogger, DiagLogLevel, diag, logs } from '@opentelemetry/api';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { vi } from 'vitest';
import type { Breakerbox } from '../breakerbox.ts';
import { byHost } from '../circuit/key-circuits.ts';
import type { ErrorCategory } from '../classify/taxonomy.ts';
import type { BreakerboxConfig, RestoreOptions } from '../config/config.ts';
import { type BreakerboxEvents, EVENT_NAMES } from '../events.ts';
import type { Settlement } from '../outcome.ts';
import type { Reason } from '../reasons.ts';
import type { Session } from '../session-api.ts';
import { restore } from '../snapshot/restore.ts';
import { snapshot } from '../snapshot/snapshot.ts';
import { bench, failOnce, type ManualClock, succeedOnce, trip } from '../test-support.ts';

/** One call with arguments and its outcome; gives the reason of the decision. */
export const callWith = (
  session: Session,
  tool: string,
  input: unknown,
  settlement: Settlement = { outcome: 'failure', category: 'network' },
): string => {
  const permit = session.acquire(tool, { input });
  permit.settle(settlement);
  return permit.reason;
};

/** One call that fails and costs so many tokens. */
export const waste = (session: Session, tool: string, tokens: number, category: ErrorCategory = 'network') => {
  const permit = session.acquire(tool);
  permit.settle({ outcome: 'failure', category, tokens });
  return permit;
};

/** One call that takes so long. */
export const takeLong = (
  session: Session,
  clock: ManualClock,
  tool: string,
  ms: number,
  settlement: Settlement = { outcome: 'success' },
) => {
  const permit = session.acquire(tool);
  clock.advance(ms);
  permit.settle(settlement);
};

/** Two circuits open with one category: a systemic event. */
export const bringDown = (session: Session, one = 'a', other = 'b') => {
  trip(session, one);
  trip(session, other);
};

/** The events of one name. */
export const hear = <Name extends keyof BreakerboxEvents>(box: Breakerbox, name: Name): BreakerboxEvents[Name][] => {
  const heard: BreakerboxEvents[Name][] = [];
  box.on(name, (event) => heard.push(event));
  return heard;
};

/** Every event of a box, as JSON. */
export const hearAll = (box: Breakerbox): string[] => {
  const heard: string[] = [];
  for (const name of EVENT_NAMES) box.on(name, (event) => heard.push(JSON.stringify(event)));
  return heard;
};

/** The session in another process. */
export const inAnotherProcess = (session: Session, box: Breakerbox, options: RestoreOptions = {}): Session =>
  restore(box, JSON.parse(JSON.stringify(snapshot(session))), options);

/** Two sessions of a box that shares its circuits. */
export const two = (config: Partial<BreakerboxConfig> = {}) => {
  const made = bench({ scope: 'process', ...config });
  return { ...made, other: made.box.session({ id: 'run-2' }) };
};

/** A box whose tools `a`, `b` and `c` are in group `g`; `d` and `e` are in none. */
export const grouped = (config: Partial<BreakerboxConfig> = {}) =>
  bench({ tools: { a: { group: 'g' }, b: { group: 'g' }, c: { group: 'g' }, d: {}, e: {} }, ...config });

/** Calls of these tools that fail, one after the other. */
export const failAll = (session: Session, tools: readonly string[], category: ErrorCategory = 'network') => {
  for (const tool of tools) failOnce(session, tool, category);
};

/** Opens the circuit of group `g`. */
export const openGroup = (session: Session, category: ErrorCategory = 'network') =>
  failAll(session, ['a', 'b', 'a'], category);

/** A failure with no cause in common with others: the tool works again in its next call. */
export const stray = (session: Session, tool: string, category: ErrorCategory = 'network') => {
  failOnce(session, tool, category);
  succeedOnce(session, tool);
};

/** Five failures, all of which may have causes of their own. */
export const FIVE_STRAY: readonly (readonly [tool: string, category: ErrorCategory])[] = [
  ['a', 'network'],
  ['b', 'server'],
  ['c', 'permission'],
  ['d', 'rate_limit'],
  ['a', 'filesystem'],
];

/** The names of circuits that are not closed, and their states. */
export const notClosed = (session: Session): string[] =>
  session
    .view()
    .circuits.filter(({ state }) => state !== 'closed')
    .map(({ tool, state }) => `${tool} ${state}`);

/** Why calls of these tools would be called, probed, skipped or paused now. */
export const reasonsOf = (session: Session, ...tools: string[]): Reason[] =>
  tools.map((tool) => session.explain(tool).reason);

/** How many words a text has (R3). */
export const words = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** Hears what `diag` is warned of; `diag.disable()` afterwards. */
export const heardWarnings = (): (() => readonly string[]) => {
  const warn = vi.fn<DiagLogger['warn']>();
  const ignore = (): void => {};
  const logger: DiagLogger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return () => warn.mock.calls.map(([text]) => text);
};

/** Registers an SDK for log records; `logs.disable()` afterwards. */
export const registerLogs = () => {
  const exporter = new InMemoryLogRecordExporter();
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] }));
  return () => exporter.getFinishedLogRecords();
};

/** A box whose tools `a` and `b` go by hosts; `c` has no keys. */
export const keyed = (config: Partial<BreakerboxConfig> = {}) =>
  bench({ tools: { a: { key: byHost() }, b: { key: byHost() }, c: {} }, loopGuard: false, ...config });

/** The arguments of a call to that host. */
export const at = (host: string) => ({ url: `https://${host}/page` });

/** One call to that host; gives the reason of the decision. */
export const visit = (
  session: Session,
  tool: string,
  host: string,
  how: Settlement = { outcome: 'success' },
): Reason => {
  const permit = session.acquire(tool, { input: at(host) });
  permit.settle(how);
  return permit.reason;
};

/** A failure that blames the key. */
export const DEAD: Settlement = { outcome: 'failure', category: 'network', blames: 'key' };

/** A failure that blames the tool. */
export const DOWN: Settlement = { outcome: 'failure', category: 'network' };

/** Three failures that blame the same key: its circuit opens. */
export const openKey = (session: Session, host: string, tool = 'a') => {
  for (let i = 0; i < 3; i += 1) visit(session, tool, host, DEAD);
};
