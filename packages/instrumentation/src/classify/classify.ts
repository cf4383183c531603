import * as core from '@breakerbox/core/internal';
import { withoutAdvice } from '../advice.ts';
import { blamed } from './blame.ts';
import { type Call, callOf, isOfTool, type ReadContext, withoutThing } from './call.ts';
import { allTextOf, contentOf, faultIn, headingsOf, isOwnPage, quotes, textOf, withoutInput } from './error-text.ts';
import { isOfTransport, misnomer } from './misnomers.ts';
import { classMeaning, isLibraryLine, statusIn } from './signs.ts';
import { isOutage, labelMeaning, readAccount, readProse, retryAfterIn } from './text.ts';
import { unexplainedIn } from './unexplained.ts';
import type { Verdict } from './verdict.ts';

export type { ReadContext } from './call.ts';
export type { Verdict } from './verdict.ts';

const { TRUST } = core;

/**
 * Why a tool threw (O2). Where signal, codes and statuses do not decide, the class and the text do. Never throws.
 * 'connect ECONNREFUSED 127.0.0.1:5432' is `{ category: 'network', blames: 'tool', why: 'code ECONNREFUSED' }`.
 */
export const readThrown = (error: unknown, context?: ReadContext): Verdict =>
  core.safely('reading an error', () => verdictOn(error, callOf(context, error))) ??
  ofTool('unknown', 'it cannot be read'); // A bug of ours (E5).

const ofTool = (category: Verdict['category'], why: string, judgedBy: Verdict['judgedBy'] = 'evidence'): Verdict => ({
  category,
  blames: 'tool',
  why,
  judgedBy,
  marked: true,
});

/**
 * Why a result is an error (O2, O9), read like a thrown error; undefined for a success. Without evidence it is `tool_error`. A string, or
 * an MCP result with one text, is an error only if it consists of the message of an outage. Never throws.
 */
export const readReturned = (returned: unknown, context?: ReadContext): Verdict | undefined =>
  core.safely('reading a result', () => {
    const result = payloadOf(returned);
    const found = core.readErrorResult(result);
    return found ? verdictOnResult(result, found, callOf(context, result)) : messageAlone(result, context);
  });

/** The structured content of an MCP result, which its text repeats. FastMCP wraps a value that is not an object in `result`. */
const payloadOf = (result: unknown): unknown => {
  const structured = core.read(result, 'structuredContent');
  const [first, ...others] = core.readKeys(structured);
  if (first === undefined || core.read(result, 'isError') === true) return result;
  return first === 'result' && others.length === 0 ? core.read(structured, first) : structured;
};

const verdictOnResult = (result: unknown, found: core.ErrorResult, call: Call): Verdict | undefined => {
  if (call.finds && core.isObject(core.read(result, 'errors'))) return undefined;
  if (found.weak) return call.reads && !isBare(result, call) ? undefined : outageOnly(ownText(result), call);
  const verdict = answerOr(verdictOn(found.error, call));
  const judged: Verdict = found.invalid ? { ...verdict, category: 'invalid_input' } : verdict;
  const marked =
    core.isError(result) || core.read(result, 'isError') === true || core.read(result, 'jsonrpc') === '2.0';
  return marked ? judged : unmarked(judged);
};

/** O9: an error that nothing can judge is no success. */
const answerOr = (verdict: Verdict): Verdict =>
  verdict.category === 'unknown' ? { ...verdict, category: 'tool_error' } : verdict;

/** The framework does not mark it as an error. */
const unmarked = (verdict: Verdict): Verdict => ({ ...verdict, marked: false, unexplained: undefined });

/** O9: the texts of a result that may be data. */
const ownText = (result: unknown): string =>
  [result, core.read(result, 'error'), ...core.readItems(core.read(result, 'errors'), 4)]
    .map(textOf)
    .concat(core.readText(result, 'status', 40)?.match(/\w+[A-Z]_[A-Z]\w+/) ?? [])
    .join('\n');

/** Keys that describe an error in a weak form that may come from a tool that reads. */
const SAYING = ['error', 'message', 'status', 'error_message'];

/** Whether a result has an error and no data: all else is empty, 0, or the input again, as in `{ query, results: [], error }`. */
const isBare = (result: unknown, { quoted, readsFile }: Call): boolean => {
  const denied = ['ok', 'success', 'successful'].some((key) => core.read(result, key) === false);
  const said = core.read(result, 'error') ?? core.read(result, 'error_message') ?? denied;
  if (readsFile || !said) return false;
  return core.readKeys(result).every((key) => {
    const value = core.read(result, key);
    const empty = !value || core.read(value, 'length') === 0;
    return empty || SAYING.includes(key) || (quoted as readonly unknown[]).includes(value);
  });
};

/** A result that is not marked as an error is one only by evidence of an outage. */
const outageOnly = (text: string, call: Call): Verdict | undefined => {
  const verdict = verdictOn(text, call);
  return verdict.judgedBy === 'evidence' && isOutage(verdict.category) ? unmarked(verdict) : undefined;
};

/** A result that is only an error message begins like this. It is short, and further lines belong to a body or a stack. */
const OPENING =
  /^[^\w\n]{0,4}(?:error(?! handling| codes?| messages?)|an? (?:\w+ )?error (?:has )?occurred|fehler\b|erreur\b|错误|エラー|ошибка|failed|failure|fatal|exception|MCP error|could not|unable to|cannot connect|[\w.]{0,60}(?:Error|Exception|Timeout):|(?:\w{1,20} ){0,3}(?:failed|error):)/i;

/** What a gateway says in place of an answer. Other wordings, such as 'Not connected' and 'No response', are also what a tool found. */
const GATEWAY =
  /^(?:internal server error|server error|bad gateway|(?:the )?service (?:is )?(?:temporarily )?unavailable|gateway time-?out|endpoint request timed out|too many requests|no healthy upstream|upstream (?:request timeout|connect error\b.*)|request was throttled\b.*|error code: (?:5\d\d|1015)|application error|(?:api )?rate limit exceeded|forbidden|unauthenticated|missing authentication token|no api key found in request|authentication credentials were not provided|an invalid response was received from the upstream server)[.!]?$/i;

/** The text of a result that has nothing else: a string, one part of content, or a message alone, as gateways send it. */
const onlyText = (result: unknown): string | undefined => {
  if (typeof result === 'string') return withoutAdvice(result);
  if (core.read(result, 'type') === 'text') return contentOf([result]);
  const isContent = core.read(core.read(result, '0'), 'type') === 'text';
  const content = isContent ? result : core.read(result, 'content');
  if (Array.isArray(content)) return content.length === 1 ? contentOf(content) : undefined;
  const [key, ...others] = core.readKeys(result);
  return (key === 'message' || key === 'detail') && others.length === 0 ? core.readText(result, key) : undefined;
};

/** A result that is not marked as an error counts as one only by evidence that libraries leave. In doubt it is a success. */
const messageAlone = (result: unknown, context: ReadContext | undefined): Verdict | undefined => {
  const text = onlyText(result)?.trim();
  if (!text || text.length > 16_384) return undefined; // Nearly every result is data, and has no such text.
  if (text.length > 2048 && !isOwnPage(text)) return undefined;
  const isJson = /^(?:\{|\[\s*[[{"])/.test(text);
  const envelope = isJson && core.readJson(text, '{}').value;
  if (isJson && onlyText(envelope) !== undefined) return messageAlone(envelope, context);
  const found = core.readErrorResult(envelope);
  const page = headingsOf(text).find((heading) => GATEWAY.test(heading) || statusIn(heading));
  const fault = /^<(?:\?xml|[\w-]+:Envelope)\b/.test(text) ? faultIn(text) : undefined;
  const isLine = !isJson && text.length <= 400 && !/\n(?![\s{}])/.test(text);
  const isOpened = isLine && (OPENING.test(text) || GATEWAY.test(text));
  const isLibrary = isLine && isLibraryLine(text);
  if (!found && (page ?? fault) === undefined && !isOpened && !isLibrary) return undefined;
  const call = callOf(context, found ? envelope : text);
  if (found) return call.readsFile ? undefined : verdictOnResult(envelope, found, call);
  if (call.kind === 'runner') return undefined;
  if (page !== undefined) return call.readsFile ? undefined : unmarked(verdictOn(page, call));
  if (fault !== undefined) return call.readsFile ? undefined : answerOr(unmarked(verdictOn(fault, call)));
  if (call.reads && !isOfTool(text, call)) return undefined;
  if (isLibrary && call.reports) return undefined;
  const prose = readProse(withoutInput(text, call.quoted), call.kind);
  if (prose?.code === 'ABORTED') return call.reports ? undefined : outageOnly(text, call); // O10
  return prose && isOutage(prose.category) && (prose.hard || GATEWAY.test(text))
    ? unmarked(verdictOn(text, call))
    : undefined;
};

/** Characters that are read of an error with all its causes, of which there may be many. */
const MOST_TEXT = 16_384;

const verdictOn = (error: unknown, call: Call): Verdict => {
  let text = '';
  const refine: core.Refine = (one, own) => {
    const found = textOf(one).slice(0, Math.max(0, MOST_TEXT - text.length));
    text += `${found}\n`;
    return refined(one, found, own, call);
  };
  const evidence = core.readEvidence(error, call.context, refine);
  if (isSkipped(error, text, call)) return ofTool('tool_error', 'another guard skipped the call');
  const { category, sign, answered, retryAfterMs = retryAfterIn(text) } = evidence;
  const verdict = ofTool(category, sign, judgedByOf(evidence));
  const details = [text, core.readText(error, 'details'), core.readText(error, 'detail')].filter(Boolean); // Of PostgREST.
  const unexplained = unexplainedIn(verdict, details.join('\n'), call); // O8
  const known = {
    ...verdict,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(answered && { answered }),
    ...(unexplained && { unexplained }),
  };
  return blamed(known, evidence, text, call);
};

/** `hard`: from words that only libraries write. */
const judgedByOf = ({ trust, vague, code, hard }: core.Evidence & { readonly hard?: boolean }): Verdict['judgedBy'] => {
  if (trust === TRUST.none || (vague && `${code}`.startsWith('rpc:'))) return 'nothing';
  return trust === TRUST.hint && !hard ? 'words' : 'evidence';
};

/**
 * B3: a guard within the tool skipped the call. The failures that caused it are charged already. A relay says it in a field of its result.
 * Frameworks make an error of their own from the text of an inner guard, and keep no field and no class of it. So the text is recognised
 * too: it has to be one that this process has written, because a tool may write the mark. A recording has only the mark.
 */
const isSkipped = (error: unknown, text: string, { context }: Call): boolean => {
  if (core.read(core.read(error, '_meta'), core.SKIP_KEY) === true) return true;
  const all = `${text}\n${allTextOf(error)}`;
  return context?.recorded === true ? all.includes(core.SKIP_MARK) : core.quotesRejection(all);
};

/** The whole text of a runner that cannot start: what a program prints has more lines. */
const UNSTARTED =
  /^(?:MCP error -32\d{3}: )?(?:spawn \S+ (?:ENOENT|EACCES)|(?:failed|unable) to (?:create|start) (?:the |a )?(?:sandbox|kernel|container)\b.*)$/i;

/** A SOAP fault that blames the request. Its status is 500, as that of all faults. */
const senderFault = (text: string): core.Evidence | undefined => {
  if (!/^[\w-]{1,20}:(?:Client|Sender): /.test(text)) return undefined;
  const { category = 'invalid_input' } = readProse(text) ?? {};
  return isOutage(category) ? undefined : { category, sign: 'a SOAP fault of the sender', trust: TRUST.hint };
};

/** The meaning of one error, where its class or its text is more exact than core's reading. */
const refined = (error: unknown, text: string, own: core.Evidence, call: Call): core.Evidence => {
  const { kind } = call;
  const meant = kind === 'runner' && text.startsWith('Command ') ? undefined : misnomer(error, text);
  if (meant || (own.trust <= TRUST.code && !own.vague)) return meant ?? own;
  const fault = senderFault(text);
  if (fault) return fault;
  const names = core.readNames(error);
  const ofClass = own.vague ? undefined : names.map(classMeaning).find((found) => found !== undefined);
  if (own.trust === TRUST.status) {
    // The rejection may be about the account: 400 with 'your credit balance is too low', or AWS's 400 for a throttled call.
    const throttled = own.category === 'invalid_input' && ofClass?.category !== 'server' ? ofClass : undefined;
    const account = readAccount(own, allTextOf(error)) ?? throttled;
    return account ? { ...own, ...account, answered: false } : own;
  }
  if (ofClass) return { ...ofClass, trust: TRUST.code };
  const rpc = own.code?.startsWith('rpc:') === true;
  const nothing: core.Evidence = rpc && own.code !== 'rpc:-32001' ? { ...own, category: 'tool_error' } : own;
  if (own.trust === TRUST.schema || text === '') return nothing;
  const answer = (sign: string): core.Evidence => ({ category: 'tool_error', sign, trust: TRUST.hint });
  const printed = answer('the output of a program says nothing about the tool');
  if (kind === 'runner' && !isOfTransport(error, text))
    return UNSTARTED.test(text) ? { ...printed, category: 'resource', sign: 'spawn' } : printed;
  const prose = readProse(withoutInput(withoutThing(text, call), call.quoted), kind);
  const found = prose && isOutage(prose.category) ? prose : (labelMeaning(error) ?? prose);
  const named = quotes(text, call.literals) && answer('it speaks about what the call asked for');
  if (found && isOutage(found.category)) return named && !found.hard ? named : { ...found, trust: TRUST.text };
  // An error of the language or of the system is not an answer, whatever its message says.
  const code = core.readText(error, 'code', 64);
  const bug =
    /^E[A-Z]+$/.test(`${code}`) || names.some((name) => /^(?:Type|Reference|Range|Syntax|Eval)Error$/.test(name));
  if (found && (rpc || found.hard || !(bug || own.vague))) return { ...found, trust: TRUST.hint };
  return !bug && !found && named ? named : nothing;
};
