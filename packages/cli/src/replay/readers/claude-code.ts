import type { Ending, ReadNotes, RecordedEvent, RecordingReader } from '../recording.ts';
import { timeOf } from './jsonl.ts';

/** An entry of a session file, as versions 1.0 to 2.1 write it. The format is internal to Claude Code, so everything may be missing. */
interface Entry {
  readonly type?: unknown;
  readonly sessionId?: unknown;
  readonly agentId?: unknown;
  readonly isSidechain?: unknown;
  readonly timestamp?: unknown;
  readonly version?: unknown;
  readonly message?: { readonly id?: unknown; readonly content?: unknown; readonly usage?: unknown } | null;
  readonly permissionDecision?: { readonly decision?: unknown } | null;
}

interface Block {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
  readonly tool_use_id?: unknown;
  readonly is_error?: unknown;
  readonly content?: unknown;
}

/** Only these entries hold calls. The text is looked for first, because most of a file is something else. */
const CALLS = /"type":\s*"tool_(?:use|result)"/;
const SESSION = /"sessionId":/;
const REJECTED = /^<tool_use_error>/;

/** Session files of Claude Code, in its folder `projects`. Subagents are sessions of their own. */
export const claudeCodeReader: RecordingReader = {
  name: 'claude-code',
  description: 'session files of Claude Code (~/.claude/projects), versions 1.0 to 2.1',
  // A first entry may be so long that the head has nothing but its beginning.
  recognizes: (head) =>
    /"parentUuid":\s?(?:null|"[\w-]{0,64}"),\s?"isSidechain":/.test(head) ||
    (SESSION.test(head) && /"(?:parentUuid|leafUuid|operation)":/.test(head)),
  async *read(file, notes) {
    const lastMessage = new Map<string, unknown>();
    for await (const lines of file.lines()) {
      const events: RecordedEvent[] = [];
      for (const line of lines) if (CALLS.test(line)) readEntry(line, { lastMessage, notes }, events);
      yield events;
    }
  },
};

interface Progress {
  /** The last message of the model, by session. A new one is a new step. */
  readonly lastMessage: Map<string, unknown>;
  readonly notes: ReadNotes;
}

const readEntry = (line: string, { lastMessage, notes }: Progress, into: RecordedEvent[]): void => {
  const entry = parsed(line);
  const atMs = timeOf(entry?.timestamp);
  const blocks = entry?.message?.content;
  if (!entry || !isCallEntry(entry) || !Array.isArray(blocks)) {
    if (!entry) notes.skipped('lines that are not JSON');
    return;
  }
  if (atMs === undefined || typeof entry.sessionId !== 'string') {
    notes.skipped('entries without sessionId or timestamp');
    return;
  }
  if (typeof entry.version === 'string') notes.version(entry.version);
  const session = sessionOf(entry, entry.sessionId);
  for (const block of blocks as readonly Block[]) {
    const event = eventOf(block, entry, session, atMs);
    if (!event) continue;
    if ('callId' in event && !notes.isFirst(keyOf(event.kind, event.callId, entry.sessionId))) continue;
    const message = entry.message?.id;
    if (event.kind === 'start') {
      if (lastMessage.has(session) && lastMessage.get(session) !== message) into.push({ kind: 'step', session, atMs });
      const tokens = lastMessage.get(session) === message ? undefined : tokensOf(entry.message?.usage);
      if (tokens !== undefined) into.push({ kind: 'spend', session, atMs, tokens });
      lastMessage.set(session, message);
    }
    into.push(event);
  }
};

const USAGE = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const;

/** What the model has used for a message. Each entry of the message repeats it. */
const tokensOf = (usage: unknown): number | undefined => {
  const counts = USAGE.map((name) => (usage as Readonly<Record<string, unknown>> | null | undefined)?.[name]);
  const known = counts.filter((count) => typeof count === 'number');
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
};

/** Subagents are sessions of their own. Older versions do not name them. */
const sessionOf = ({ agentId, isSidechain }: Entry, sessionId: string): string =>
  typeof agentId === 'string' ? `${sessionId}/${agentId}` : isSidechain === true ? `${sessionId}/sidechain` : sessionId;

/** A session that was continued or forked repeats entries of the one before, perhaps in another file under another `sessionId`. */
const keyOf = (kind: string, callId: string, sessionId: string): string =>
  callId.startsWith('toolu_') ? `${kind} ${callId}` : `${kind} ${sessionId} ${callId}`;

/** Only what the model asked for and what it was told. Copies of requests hold the same calls again. */
const isCallEntry = ({ type }: Entry): boolean => type === 'assistant' || type === 'user';

const parsed = (line: string): Entry | undefined => {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return undefined;
  }
};

const eventOf = (block: Block | null, entry: Entry, session: string, atMs: number): RecordedEvent | undefined => {
  if (block?.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string') {
    const { id: callId, name: tool, input } = block;
    const group = /^mcp__(.+?)__/.exec(tool)?.[1];
    return { kind: 'start', session, atMs, tool, callId, group, input, agent: 'claude-code' };
  }
  if (block?.type === 'tool_result' && typeof block.tool_use_id === 'string') {
    return { kind: 'end', session, atMs, callId: block.tool_use_id, ending: endingOf(block, entry) };
  }
  return undefined;
};

/**
 * Claude Code marks every error the same way, whether the tool threw or reported it. So it is judged like a reported error. It puts its own
 * tag around the error of a call that it rejected itself, such as a wrong argument, and quotes the call in it.
 */
const endingOf = ({ is_error, content }: Block, { permissionDecision }: Entry): Ending => {
  if (permissionDecision?.decision === 'reject') return { outcome: 'ignored', category: 'denied' };
  if (is_error !== true) return { outcome: 'success' };
  const parts: unknown = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (Array.isArray(parts) && REJECTED.test(parts[0]?.text)) return { outcome: 'ignored', category: 'invalid_input' };
  return { result: { isError: true, content: parts } };
};
