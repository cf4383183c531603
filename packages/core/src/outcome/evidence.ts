import { accountCategory } from './accounts.ts';
import { saidOf } from './commands.ts';
import { databaseError } from './databases.ts';
import { grpcCode } from './grpc.ts';
import { readStatus, statusCategory } from './http.ts';
import { mcpClientCode, protocolCode } from './mcp-errors.ts';
import { readMessage } from './message.ts';
import { misnomer } from './misnomers.ts';
import { fetchCategory, isValidationError, nameCategory, stopKind } from './names.ts';
import { type CodeMeaning, nodeCode } from './node-errors.ts';
import type { Voice } from './phrase-parts.ts';
import { readRetryAfter } from './retry-after.ts';
import type { ErrorCategory } from './taxonomy.ts';
import { isObject, read, readItems } from './untrusted.ts';

/** How far a reading is trusted: the smaller, the more. */
const TRUST = { timeout: 0, cancelled: 1, code: 2, status: 3, schema: 4, fetch: 5, text: 6, none: 7 } as const;

/** What an error turned out to be. */
export interface Evidence {
  readonly category: ErrorCategory;
  readonly trust: number;
  readonly aboutInput: boolean;
  readonly retryAfterMs: number | undefined;
}

/** Errors that one reading looks at in all, and how deep a chain it follows: causes may be cyclic, proxies endless. */
const MAX_ERRORS = 32;
const MAX_DEPTH = 8;
const MAX_SIBLINGS = 8;

/** Where the error beneath is: standard, AI SDK's `RetryError`, `SuppressedError` and API bodies, older wrappers. */
const LINKS = ['cause', 'lastError', 'error', 'originalError'] as const;

/**
 * The most trusted reading of an error, of the errors beneath it and, for an `AggregateError`, of the most telling one
 * inside. Of equals, the outermost. The voice says how strictly its text is read.
 */
export function gatherEvidence(error: unknown, unixMs: number, voice: Voice = 'thrown'): Evidence {
  const seen = new Set<unknown>();

  function visit(value: unknown, depth: number): Evidence {
    const own = readOne(value, unixMs, voice);
    if (!isObject(value)) return own;
    seen.add(value);
    if (depth >= MAX_DEPTH) return own;
    const below = LINKS.map((key) => enter(read(value, key), depth)).filter((found) => found !== undefined);
    // What ajv and its like keep in `errors` are violations, not errors.
    const inner = isValidationError(value) ? [] : readItems(read(value, 'errors'), MAX_SIBLINGS);
    const siblings = inner.map((item) => enter(item, depth)).filter((found) => found !== undefined);
    return merge([own, ...below, ...mostTelling(siblings)]);
  }

  function enter(value: unknown, depth: number): Evidence | undefined {
    if (value === undefined || value === null || seen.has(value) || seen.size >= MAX_ERRORS) return undefined;
    return visit(value, depth + 1);
  }

  return visit(error, 0);
}

function merge(found: readonly Evidence[]): Evidence {
  const best = found.reduce((a, b) => (b.trust < a.trust ? b : a));
  return { ...best, retryAfterMs: found.find((one) => one.retryAfterMs !== undefined)?.retryAfterMs };
}

/**
 * Of several tries that all failed, the one that says most about the tool: an outage before a bad argument, either
 * before 'unknown', and an abort last (whoever races several calls aborts the rest).
 */
function mostTelling(siblings: readonly Evidence[]): Evidence[] {
  const score = ({ category, trust }: Evidence) => {
    const group = { invalid_input: 1, denied: 1, tool_error: 1, unknown: 2, cancelled: 3 };
    return (group[category as keyof typeof group] ?? 0) * 10 + trust;
  };
  const [first, ...rest] = siblings;
  return first ? [rest.reduce((a, b) => (score(b) < score(a) ? b : a), first)] : [];
}

/** Reads one error, without the ones beneath it. */
function readOne(error: unknown, unixMs: number, voice: Voice): Evidence {
  const retryAfterMs = readRetryAfter(error, unixMs);
  const evidence = (category: ErrorCategory, trust: number, aboutInput = false): Evidence => ({
    category,
    trust,
    aboutInput,
    retryAfterMs,
  });
  const message = typeof error === 'string' ? error : saidOf(error);

  const meant = misnomer(error);
  if (meant === 'timeout' || meant === 'cancelled') return evidence(meant, TRUST[meant]);
  if (meant) return evidence(meant, TRUST.code);
  const code = databaseError(error, message) ?? readCode(error);
  const stop = stopKind(error);
  // The clients of AWS call a reset connection `TimeoutError` too: there the code knows better.
  const reset = stop === 'timeout' && code?.category === 'network' && !code.vague;
  if (stop && !reset) return evidence(stop, TRUST[stop]);
  if (code) {
    const meaning = (code.vague && readMessage(message, voice)) || code;
    return evidence(meaning.category, TRUST.code, meaning.aboutInput);
  }
  const status = readStatus(error);
  // Before the class, which is PermissionDeniedError for each 403 of OpenAI's and Anthropic's.
  const named = accountCategory(error, status) ?? nameCategory(error);
  if (named) return evidence(named, TRUST.code);
  const byStatus = status === undefined ? undefined : statusCategory(status);
  if (byStatus) return evidence(byStatus, TRUST.status);
  if (isValidationError(error)) return evidence('invalid_input', TRUST.schema);
  const byFetch = fetchCategory(error);
  if (byFetch) return evidence(byFetch, TRUST.fetch);
  const byText = readMessage(message, voice);
  if (byText) return evidence(byText.category, TRUST.text, byText.aboutInput);
  return evidence('unknown', TRUST.none);
}

/** `code` is a string of Node's or of MCP's client, or a number of JSON-RPC's or gRPC's; never an HTTP status here. */
function readCode(error: unknown): CodeMeaning | undefined {
  const code = read(error, 'code');
  if (typeof code === 'number') return grpcCode(error, code) ?? protocolCode(code);
  if (typeof code !== 'string' || code.length > 64) return undefined;
  return nodeCode(code) ?? mcpClientCode(code);
}
