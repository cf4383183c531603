import { statusCategory } from './http.ts';
import { protocolCode } from './mcp-errors.ts';
import { type CodeMeaning, nodeCode } from './node-errors.ts';
import type { ErrorCategory } from './taxonomy.ts';
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
    String.raw`\bHTTP(?:S|/\d(?:\.\d)?)?(?: (?:error|status|response))?!?(?: (?:status|code))?(?: code)?[ :=(#]{1,3}${STATUS}\b`,
    'i',
  ),
  // 'status code 429 from upstream'
  new RegExp(String.raw`\bstatus[ _-]?code["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}\b`, 'i'),
  // '"status":503', 'status of 502'
  new RegExp(String.raw`\bstatus["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}${END}`, 'i'),
  // '503 Service Unavailable': each with its own phrase and in its own case, for 'Order 503 not found' is no status
  /\b(400 Bad Request|401 Unauthori[sz]ed|402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed)\b/,
  /\b(408 Request Time-?[oO]ut|409 Conflict|410 Gone|422 Unprocessable|429 Too Many Requests|500 Internal Server Error)\b/,
  /\b(501 Not Implemented|502 Bad Gateway|503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?[oO]ut)\b/,
  // 'Error 503', 'Error code: 429 - {…}'
  new RegExp(String.raw`\berror(?: code)?[ :=#]{1,3}${STATUS}${END}`, 'i'),
  // 'the upstream answered 503', 'failed with status 500'
  new RegExp(
    String.raw`\b(?:return(?:s|ed)|respond(?:s|ed) with|answer(?:s|ed)(?: with)?|fail(?:s|ed) with|repli(?:es|ed)(?: with)?|says|got)(?: an?)? ${STATUS}${END}`,
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

const ABOUT_INPUT = { category: 'filesystem', aboutInput: true } as const;

/** In order: what is more telling comes first ('aborted due to timeout' is a time-out). */
const PHRASES: readonly (readonly [ErrorCategory | typeof ABOUT_INPUT, RegExp])[] = [
  ['denied', /\b(?:denied|rejected|declined) by (?:the |a )?(?:user|human|operator|policy|administrator)\b/i],
  [
    'denied',
    /\b(?:user|human|operator) (?:has )?(?:denied|rejected|declined) (?:the |this )?(?:tool|call|request|action|permission)\b/i,
  ],
  [
    'invalid_input',
    /\b(?:input validation error|invalid arguments? for (?:the )?tool|outside (?:of )?(?:the )?allowed director)/i,
  ],
  [
    'rate_limit',
    /\brate[ _-]?limit(?:s|ed|ing)?(?![a-z])|\btoo many requests\b|\b(?:request|call)s? (?:was|were|is|are|has been|have been) throttled\b|\bthrottling\b/i,
  ],
  [
    'resource',
    /\bquota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b|\bexceed(?:ed|s)? (?:your |the )?(?:\w+ )?quota\b|\binsufficient[_ ]quota\b/i,
  ],
  [
    'resource',
    /\bout of (?:memory|disk space)\b|\bno space left on device\b|\bdis[ck] (?:is )?full\b|\btoo many open files\b|\bcredit balance is too low\b/i,
  ],
  [
    'timeout',
    /\btimed[ -]?out\b|\bdeadline (?:was |has been )?exceeded\b|\b(?:due to|after|gave up on) (?:an? )?time-?out\b/i,
  ],
  [
    'timeout',
    /\b(?:request|connect(?:ion)?|read|socket|response|operation|gateway|idle|headers?|body|query|call) time-?out\b|\w{0,40}Timeout(?:Error|Exception)\b/i,
  ],
  [
    'timeout',
    /\btime-?out (?:of \d{1,9} ?\w{0,12} )?(?:was |has been |is )?(?:exceeded|expired|reached|elapsed)\b|\btime-?out after \d|^(?:error: )?time-?out[.!]?$/i,
  ],
  [
    'cancelled',
    /\bAbortError\b|\b(?:this|the) (?:operation|request) was (?:aborted|cancell?ed)\b|\brequest was aborted\b/i,
  ],
  [
    'network',
    /\bconnection (?:was |has been |is )?(?:refused|reset|closed|aborted|lost|terminated|dropped)\b|\bsocket hang up\b|\bother side closed\b|\bpremature close\b|\bbroken pipe\b/i,
  ],
  [
    'network',
    /\bfetch failed\b|\bfailed to fetch\b|\bnetwork (?:error|is unreachable|unreachable|failure)\b|\b(?:host|server) (?:is )?unreachable\b|\bno route to host\b/i,
  ],
  [
    'network',
    /\b(?:cannot|could not|couldn't|can't|unable to|failed to) (?:connect to|establish (?:a )?(?:new )?connection|resolve host)|\bfailed to resolve host|\bgetaddrinfo\b|\bname resolution\b|\bname or service not known\b/i,
  ],
  [
    'network',
    /\b(?:self[- ]signed certificate|certificate (?:has )?expired|certificate verify failed|unable to verify the first certificate)\b|\bnot connected$/i,
  ],
  [
    'permission',
    /\bpermission denied\b|\baccess (?:is |was )?denied\b|\boperation not permitted\b|\bPermissionError\b|\bunauthenticated\b/i,
  ],
  [
    'permission',
    /\b(?:invalid|incorrect|expired|missing|revoked) (?:api[ _-]?key|access[ _-]?token|credentials)\b|\b(?:api[ _-]?key|access[ _-]?token|credentials?) (?:has |have |is |are )?(?:expired|revoked|invalid|missing)\b|\bauthentication (?:failed|error)\b|^(?:error: )?(?:unauthori[sz]ed|forbidden)[.!]?$/i,
  ],
  [
    'server',
    /\binternal server error\b|\bbad gateway\b|\bservice (?:is )?(?:temporarily |currently )?unavailable\b|\b(?:server|api|model|engine) (?:is )?(?:temporarily |currently )?(?:overloaded|unavailable)\b|\boverloaded_error\b|^(?:error: )?overloaded[.!]?$/i,
  ],
  [
    ABOUT_INPUT,
    /\bno such file\b|\bfile not found\b|\bFileNotFoundError\b|\bis a directory\b|\bnot a directory\b|\bfile (?:already )?exists\b|\billegal operation on a directory\b/i,
  ],
  ['filesystem', /\bread-only file ?system\b|\binput\/output error\b|\bstale file handle\b/i],
  [
    'invalid_input',
    /\b(?:schema|argument|parameter|input|request) validation (?:failed|error)\b|^(?:error: )?validation (?:failed|error)|\btool (?:input )?validation failed\b|\bToolInputParsingException\b/i,
  ],
  [
    'invalid_input',
    /\binvalid (?:tool |function )?(?:input|arguments?|parameters?|params)\b|\bmissing required (?:argument|parameter|field|property|input)\b|\bdoes not match (?:the |its )?(?:\w+ )?schema\b|\binvalid url\b/i,
  ],
];

function phraseIn(text: string): CodeMeaning | undefined {
  const meaning = PHRASES.find(([, pattern]) => pattern.test(text))?.[0];
  return typeof meaning === 'string' ? { category: meaning } : meaning;
}
