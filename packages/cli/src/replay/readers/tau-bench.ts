import type { Ending, RecordedEvent, RecordingReader } from '../recording.ts';
import { timeOf } from './jsonl.ts';

/** The time between messages that have no time stamp, as in tau-bench. */
const ASSUMED_MS = 5000;

interface Call {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly requestor?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

/** A message of tau-bench, which is OpenAI's, or of tau2-bench. */
interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: readonly (Call | null)[] | null;
  readonly tool_call_id?: unknown;
  readonly requestor?: unknown;
  readonly id?: unknown;
  readonly error?: unknown;
  readonly timestamp?: unknown;
}

interface Run {
  readonly session: string;
  readonly startMs: number;
  readonly messages: readonly (Message | null)[];
}

/** Result files of tau-bench (an array of runs with `traj`) and tau2-bench (`simulations` with `messages`). */
export const tauBenchReader: RecordingReader = {
  name: 'tau-bench',
  description: 'result files of tau-bench and tau2-bench',
  recognizes: (head) =>
    /"(?:traj|simulations)"\s*:\s*\[/.test(head) ||
    (/^\s*\[\s*\{\s*"task_id"/.test(head) && /"reward"/.test(head)) ||
    // In tau2-bench the texts of all tasks come before the runs.
    (/^\s*\{\s*"timestamp"/.test(head) && /"info"\s*:/.test(head) && /"num_trials"\s*:/.test(head)),
  async *read(file, notes) {
    const content = parsed(await file.text());
    // The fault itself would quote the file (T7).
    if (typeof content === 'string') throw new Error('it is not JSON. Its end may be missing.');
    for (const run of runsOf(content, file.path)) {
      if (run.messages.some((message) => message?.timestamp === undefined && message?.role === 'tool')) {
        notes.assumed(`runs without times: ${ASSUMED_MS / 1000} s between messages are assumed`);
      }
      yield eventsOf(run);
    }
  },
};

const runsOf = function* (content: unknown, path: string): Iterable<Run> {
  const simulations = (content as { readonly simulations?: unknown } | null)?.simulations;
  const list: readonly unknown[] = Array.isArray(simulations) ? simulations : Array.isArray(content) ? content : [];
  for (const [index, one] of list.entries()) {
    const run = (one ?? {}) as Readonly<Record<string, unknown>>;
    const messages = run.messages ?? run.traj;
    if (!Array.isArray(messages)) continue;
    yield {
      // Without an id, a run in another file has the same task and trial.
      session: `task ${run.task_id ?? index}, trial ${run.trial ?? 0}, ${typeof run.id === 'string' ? run.id : path}`,
      startMs: timeOf(run.start_time) ?? 0,
      messages,
    };
  }
};

const eventsOf = ({ session, startMs, messages }: Run): readonly RecordedEvent[] => {
  const events: RecordedEvent[] = [];
  let atMs = startMs;
  let hasStep = false;
  for (const message of messages) {
    if (message === null) continue;
    atMs = Math.max(atMs, timeOf(message.timestamp) ?? atMs + ASSUMED_MS);
    // In tau2-bench the simulated user has tools too.
    if (message.role === 'tool' && message.requestor !== 'user') {
      events.push({
        kind: 'end',
        session,
        atMs,
        callId: String(message.tool_call_id ?? message.id),
        ending: endingOf(message),
      });
    }
    if (message.role !== 'assistant') continue;
    if (hasStep) events.push({ kind: 'step', session, atMs });
    hasStep = true;
    for (const call of message.tool_calls ?? []) {
      const tool = call?.name ?? call?.function?.name;
      if (typeof tool !== 'string' || call?.requestor === 'user') continue;
      const input = call?.arguments ?? parsed(call?.function?.arguments);
      events.push({ kind: 'start', session, atMs, tool, callId: String(call?.id), input });
    }
  }
  return events;
};

const parsed = (text: unknown): unknown => {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text;
  } catch {
    return text;
  }
};

/** tau2-bench marks errors; tau-bench begins their text with a word. */
const endingOf = ({ error, content }: Message): Ending => {
  const text = typeof content === 'string' ? content : '';
  if (error !== true && !/^Error\b/.test(text)) return { outcome: 'success' };
  return { result: { isError: true, content: [{ type: 'text', text }] } };
};
