import type { Classification, ClassifyContext } from '@breakerbox/core';
import * as core from '@breakerbox/core/internal';
import { allTextOf, contentOf, isElsewhere, namesHost, textOf, withoutInput } from './error-text.ts';
import { kindOf, type ToolKind } from './kind.ts';
import { misnomer } from './misnomers.ts';
import { classMeaning } from './signs.ts';
import { isOutage, readAccount, readProse, retryAfterIn } from './text.ts';
import { unexplainedIn } from './unexplained.ts';

const { TRUST } = core;

/** Why a call did not succeed, what the failure is about (C14), and the evidence. */
export interface Verdict extends Classification {
  readonly blames: 'tool' | 'key';
  /** The evidence, in short plain English. It quotes no input. */
  readonly why: string;
  /**
   * What the category rests on. `evidence`: a code, a status, a class, a schema, a signal, or words that only libraries write. `words`:
   * words that people write too, such as "not" or "already", or a quotation of the input. `nothing`: nothing could judge the error.
   */
  readonly judgedBy: 'evidence' | 'words' | 'nothing';
  /** Whether the framework marks it as an error: it was thrown, has `isError`, or is a JSON-RPC error. */
  readonly marked: boolean;
}

/** Context of a call, beside its error or result. */
export interface ReadContext extends ClassifyContext {
  /** The name of the tool. */
  readonly tool?: string;
  /** What kind of tool it is. Default: by its name. */
  readonly kind?: ToolKind | undefined;
  /** The arguments of the call. */
  readonly input?: unknown;
}

/**
 * Why a tool threw (O2). Where signal, codes and statuses do not decide, the class and the text do. An `AbortError` while the
 * signal has not fired is `cancelled`: a tool with a timeout of its own should abort by `AbortSignal.timeout(ms)`. Never throws.
 * 'connect ECONNREFUSED 127.0.0.1:5432' is `{ category: 'network', blames: 'tool', why: 'code ECONNREFUSED' }`.
 */
export const readThrown = (error: unknown, context?: ReadContext): Verdict =>
  core.safely('reading an error', () => verdictOn(error, callOf(context))) ?? UNREADABLE;
const UNREADABLE: Verdict = {
  category: 'unknown',
  blames: 'tool',
  why: 'it cannot be read',
  judgedBy: 'evidence',
  marked: true,
}; // For a bug of ours (E5).

/**
 * Why a result is an error (O2), read like a thrown error; undefined for a success. Without evidence it is `tool_error`. A string, or
 * an MCP result with one text, is an error only if it consists of the message of an outage. Never throws.
 */
export const readReturned = (result: unknown, context?: ReadContext): Verdict | undefined => {
  try {
    const found = core.readErrorResult(result);
    if (!found) return messageAlone(result, context);
    const marked = core.isError(result) || core.read(result, 'isError') === true;
    const read = verdictOn(found.error, callOf(context));
    const verdict = { ...read, marked, ...(!marked && { unexplained: undefined }) };
    if (found.invalid) return { ...verdict, category: 'invalid_input' };
    return verdict.category === 'unknown' ? { ...verdict, category: 'tool_error' } : verdict;
  } catch (error) {
    core.reportThrown('reading a result', error);
    return undefined;
  }
};

/** A result that is only an error message begins like this. It is short, and further lines belong to a body or a stack. */
const OPENING =
  /^[^\w\n]{0,4}(?:error(?! handling| codes?| messages?)|failed|failure|fatal|exception|MCP error|could not|unable to|cannot connect|[\w.]{0,60}(?:Error|Exception|Timeout):|(?:\w{1,20} ){0,3}(?:failed|error):)/i;

/** A result that is not marked as an error counts as one only by evidence that libraries leave. In doubt it is a success. */
const messageAlone = (result: unknown, context: ReadContext | undefined): Verdict | undefined => {
  const content = core.read(result, 'content');
  const single = Array.isArray(content) && content.length === 1 && core.read(result, 'structuredContent') === undefined;
  const text = typeof result === 'string' ? result : single ? contentOf(content) : '';
  if (text.length > 400 || /\n(?![\s{}])/.test(text.trim()) || !OPENING.test(text)) return undefined;
  const call = callOf(context);
  const found = call.kind === 'runner' ? undefined : readProse(withoutInput(text, call.input), call.kind);
  return found?.hard && isOutage(found) ? { ...verdictOn(text, call), marked: false } : undefined;
};

/** The strings in the arguments of a call: 3 levels deep, at most 32 keys of each object and 32 strings. */
export const stringsIn = (input: unknown, depth = 3): readonly string[] => {
  if (typeof input === 'string') return input.length > 2 && input.length < core.TEXT_LIMIT ? [input] : [];
  if (!core.isObject(input) || depth === 0) return [];
  const strings: string[] = [];
  for (const key of core.readKeys(input).slice(0, 32)) strings.push(...stringsIn(core.read(input, key), depth - 1));
  return strings.slice(0, 32);
};

/** The URL that the call chose. */
export const urlIn = (input: readonly string[]): URL | undefined => {
  for (const text of input) if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text);
  return undefined;
};

/** The context of the call, with the strings in its arguments. */
const callOf = (context: ReadContext | undefined) => ({
  context,
  kind: (core.read(context, 'kind') as ToolKind | undefined) ?? kindOf(core.readText(context, 'tool', 200) ?? ''),
  input: stringsIn(core.read(context, 'input')),
});
type Call = ReturnType<typeof callOf>;

/** Characters that are read of an error with all its causes, of which there may be many. */
const MOST_TEXT = 16_384;

const verdictOn = (error: unknown, call: Call): Verdict => {
  let text = '';
  const refine: core.Refine = (one, own) => {
    const found = textOf(one).slice(0, Math.max(0, MOST_TEXT - text.length));
    text += `${found}\n`;
    return refined(one, found, own, call);
  };
  const { category, host, sign, ...evidence } = core.readEvidence(error, call.context, refine);
  const retryAfterMs = evidence.retryAfterMs ?? retryAfterIn(text);
  const wait = retryAfterMs !== undefined && { retryAfterMs };
  const marked = true;
  if (isSkipped(`${text}\n${allTextOf(error)}`))
    return {
      category: 'tool_error',
      blames: 'tool',
      why: 'another guard skipped the call',
      judgedBy: 'evidence',
      marked,
    };
  const judgedBy = judgedByOf(evidence, sign);
  const unexplained = unexplainedIn({ category, judgedBy }, text, call); // O8
  if (!host || !isChosen(text, sign, call))
    return { category, ...wait, blames: 'tool', why: sign, judgedBy, marked, ...(unexplained && { unexplained }) };
  // That the host does not exist is an answer.
  const missing = /NOTFOUND|NAME_NOT|UNKNOWN_HOST|no such host/.test(sign);
  const why = `${sign}, of the host that the call chose`;
  return { category: missing ? 'tool_error' : category, ...wait, blames: 'key', why, judgedBy, marked };
};

const judgedByOf = ({ trust, vague, hard }: Found, sign: string): Verdict['judgedBy'] => {
  if (trust === TRUST.none || (vague && sign.startsWith('JSON-RPC'))) return 'nothing';
  return trust === TRUST.hint && !hard ? 'words' : 'evidence';
};

/** Evidence that may come from words. `hard`: from words that only libraries write. */
type Found = Pick<core.Evidence, 'trust' | 'vague'> & { readonly hard?: boolean };

/** C14: whether a failure about a host is about the host that the call chose, and not about a proxy or the tool's own server. */
const isChosen = (text: string, sign: string, { context, kind, input }: Call): boolean => {
  const opens = kind === 'fetch' || kind === 'browser';
  const url = urlIn(input);
  if (url) return (opens || text.toLowerCase().includes(url.hostname)) && !isElsewhere(text, url);
  // 'connect ECONNREFUSED 127.0.0.1:9222' in a call without a URL is about the browser itself.
  return opens && (context?.input === undefined || !/REFUSED|refused|connection/.test(sign) || namesHost(text));
};

/** B3: a guard within the tool, maybe in another process, skipped the call. The failures that caused it are charged already. */
const isSkipped = (text: string): boolean => {
  const from = text.search(UNAVAILABLE);
  return text.includes(core.SKIP_MARK) || (from >= 0 && text.includes('Do not retry it', from)) || PAUSED.test(text);
};
// The words of releases without the mark.
const UNAVAILABLE = /\bTool '.{1,200}' is unavailable\b/;
const PAUSED = /\bDo not call any tools, including\b/;

/** The whole text of a runner that cannot start: what a program prints has more lines. */
const UNSTARTED =
  /^(?:MCP error -32\d{3}: )?(?:spawn \S+ (?:ENOENT|EACCES)|(?:failed|unable) to (?:create|start) (?:the |a )?(?:sandbox|kernel|container)\b.*)$/i;

/** The meaning of one error, where its class or its text is more exact than core's reading. */
const refined = (error: unknown, text: string, own: core.Evidence, { kind, input }: Call): core.Evidence => {
  const meant = kind === 'runner' && text.startsWith('Command ') ? undefined : misnomer(error);
  if (meant || (own.trust <= TRUST.code && !own.vague)) return meant ?? own;
  const names = core.readNames(error);
  const named = own.vague ? undefined : names.map(classMeaning).find((found) => found !== undefined);
  if (own.trust === TRUST.status) {
    // The rejection may be about the account: 400 with 'your credit balance is too low', or AWS's 400 for a throttled call.
    const throttled = own.category === 'invalid_input' && named?.category !== 'server' ? named : undefined;
    return { ...own, ...(readAccount(own, allTextOf(error)) ?? throttled) };
  }
  if (named) return { ...named, trust: TRUST.code };
  const rpc = own.sign.startsWith('JSON-RPC');
  const nothing: core.Evidence = rpc && !own.sign.endsWith('-32001') ? { ...own, category: 'tool_error' } : own;
  if (own.trust === TRUST.schema || text === '') return nothing;
  const answer = (sign: string): core.Evidence => ({ category: 'tool_error', sign, trust: TRUST.hint });
  const printed = answer('the output of a program says nothing about the tool');
  if (kind === 'runner') return UNSTARTED.test(text) ? { ...printed, category: 'resource', sign: 'spawn' } : printed;
  const found = readProse(withoutInput(text, input), kind);
  if (found && isOutage(found)) return { ...found, trust: TRUST.text };
  // An error of the language or of the system is not an answer, whatever its message says.
  const code = core.readText(error, 'code', 64) ?? '';
  const bug = /^E[A-Z]+$/.test(code) || names.some((name) => /^(?:Type|Reference|Range|Syntax|Eval)Error$/.test(name));
  if (found && (rpc || found.hard || !(bug || own.vague))) return { ...found, trust: TRUST.hint };
  return !bug && !found && input.some((value) => text.includes(value)) ? answer('it quotes the input') : nothing;
};
