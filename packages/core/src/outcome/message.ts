import { accountSays } from './accounts.ts';
import { grpcStatusIn } from './grpc.ts';
import { OUTPUT_REFUSED, protocolCode } from './mcp-errors.ts';
import { type CodeMeaning, nodeCode } from './node-errors.ts';
import type { Voice } from './phrase-parts.ts';
import { phraseIn } from './phrases.ts';
import { httpStatusIn } from './status-text.ts';
import { TEXT_LIMIT } from './untrusted.ts';

/**
 * What the text of an error says (O2); undefined where it says nothing we know. Text is the last thing asked, and asked
 * with caution: 'Order 503 not found' and '429 results' are no statuses, 'basic economy is forbidden' is no 403.
 *
 * Asked in this order: a gRPC status, and MCP's codes for bad arguments, for after either the text quotes the arguments;
 * error codes (`ECONNREFUSED`); an HTTP status that is called one; phrases; codes that are vague. Only the first 4,096
 * characters are read.
 *
 * A text that was `returned` in an error result is read more strictly than one that was `thrown`: most of the former
 * are answers ('your seat hold timed out'), and reading one as an outage would take a tool away that works.
 */
export function readMessage(message: string, voice: Voice): CodeMeaning | undefined {
  const text = message.slice(0, TEXT_LIMIT);
  if (text.trim() === '') return undefined;
  if (OUTPUT_REFUSED.test(text)) return { category: 'server' };
  const status = grpcStatusIn(text);
  if (status && !status.vague) return status;
  const named = [...protocolCodeIn(text), ...codesIn(text)];
  const sure = named.find(({ vague }) => !vague);
  return sure ?? httpAnswer(text, voice) ?? status ?? phraseIn(text, voice) ?? named[0];
}

/** 'HTTP 400: your credit balance is too low' is about the account, as in accounts.ts. */
function httpAnswer(text: string, voice: Voice): CodeMeaning | undefined {
  const answer = httpStatusIn(text, voice);
  const refusal = answer?.category === 'invalid_input' || answer?.category === 'permission';
  const prose = voice === 'thrown' && answer?.category === 'permission';
  const category = refusal ? accountSays(text, prose) : undefined;
  return category ? { category } : answer;
}

const CODE = /\b(?:E[A-Z][A-Z0-9]{1,14}|EAI_[A-Z]{2,12}|(?:UND_)?ERR_[A-Z0-9_]{3,40}|CERT_HAS_EXPIRED)\b/g;

/** The error codes in a text that we know. */
function codesIn(text: string): CodeMeaning[] {
  return [...text.matchAll(CODE)].map(([code]) => nodeCode(code)).filter((meaning) => meaning !== undefined);
}

function protocolCodeIn(text: string): CodeMeaning[] {
  const code = /\bMCP error (-32\d{3})\b/.exec(text)?.[1];
  const meaning = code === undefined ? undefined : protocolCode(Number(code));
  return meaning ? [meaning] : [];
}
