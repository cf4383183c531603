import { logs } from '@opentelemetry/api';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import type { Breakerbox } from '../breakerbox.ts';
import { type BreakerboxEvents, EVENT_NAMES } from '../events.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { Session } from '../session.ts';
import type { Settlement } from '../settlement.ts';
import { type ManualClock, trip } from '../test-support.ts';

/** One call with arguments that comes to this; gives why it was let through or held up. */
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

/** Two circuits open alike: the session is paused as a whole. */
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
export const inAnotherProcess = (session: Session, box: Breakerbox): Session =>
  box.restore(JSON.parse(JSON.stringify(session.snapshot())));

/** Registers an SDK for log records; `logs.disable()` afterwards. */
export const registerLogs = () => {
  const exporter = new InMemoryLogRecordExporter();
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] }));
  return () => exporter.getFinishedLogRecords();
};
