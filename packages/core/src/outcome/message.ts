import { statusCategory } from './http.ts';
import { protocolCode } from './mcp-errors.ts';
import { type CodeMeaning, nodeCode } from './node-errors.ts';
import { phraseIn } from './phrases.ts';
import { TEXT_LIMIT } from './untrusted.ts';

/**
 * What the text of an error says (O2); undefined where it says nothing we know. Text is the last thing asked, and asked
 * with caution: 'Order 503 not found' and '429 results' are no statuses, 'basic economy is forbidden' is no 403.
 *
 * Asked in this order: MCP's codes for bad arguments, whose text quotes the arguments; error codes (`ECONNREFUSED`); an
 * HTTP status that is called one; phrases; codes that are vague. Only the first 4,096 characters are read.
 */
export function readMessage(message: string): CodeMeaning | undefined {
  const text = message.slice(0, TEXT_LIMIT);
  if (text.trim() === '') return undefined;
  const named = [...protocolCodeIn(text), ...codesIn(text)];
  return named.find(({ vague }) => !vague) ?? httpStatusIn(text) ?? phraseIn(text) ?? named[0];
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

/** After a status comes the end, a bracket or a stop; '503 results' goes on. */
const END = String.raw`\b(?=\s*(?:$|[\r\n,;:.!?)\]}{(\["'<>|]|[-–—]\s))`;
const STATUS = String.raw`([45]\d\d)`;

const STATUS_PATTERNS: readonly RegExp[] = [
  // 'HTTP 503', 'HTTP/1.1 503', 'HTTP error! status: 503'
  new RegExp(
    String.raw`\bHTTP(?:S|/\d(?:\.\d)?)?(?: (?:error|status|response))?!?(?: (?:status|code))?(?: code)?` +
      String.raw`[ :=(#]{1,3}${STATUS}\b`,
    'i',
  ),
  // 'status code 429 from upstream'
  new RegExp(String.raw`\bstatus[ _-]?code["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}\b`, 'i'),
  // '"status":503', 'status of 502'
  new RegExp(String.raw`\bstatus["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}${END}`, 'i'),
  // '503 Service Unavailable': each with its own phrase and in its own case, for 'Order 503 not found' is no status
  /\b(400 Bad Request|401 Unauthori[sz]ed|402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed)\b/,
  /\b(408 Request Time-?[oO]ut|409 Conflict|410 Gone|422 Unprocessable|429 Too Many Requests)\b/,
  /\b(500 Internal Server Error|501 Not Implemented|502 Bad Gateway)\b/,
  /\b(503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?[oO]ut)\b/,
  // 'Error 503', 'Error code: 429 - {…}'
  new RegExp(String.raw`\berror(?: code)?[ :=#]{1,3}${STATUS}${END}`, 'i'),
  // 'the upstream answered 503', 'failed with status 500'
  new RegExp(
    `\\b(?:return(?:s|ed)|(?:respond|fail)(?:s|ed) with|(?:answer(?:s|ed)|repli(?:es|ed))(?: with)?|says|got)` +
      ` (?:an? )?(?:status )?${STATUS}${END}`,
    'i',
  ),
  // nothing but the number
  new RegExp(String.raw`^\s*(?:Error:\s*)?${STATUS}\s*$`),
];

function httpStatusIn(text: string): CodeMeaning | undefined {
  for (const pattern of STATUS_PATTERNS) {
    const status = pattern.exec(text)?.[1]?.slice(0, 3);
    const category = statusCategory(Number(status));
    if (category) return { category };
  }
  return undefined;
}
