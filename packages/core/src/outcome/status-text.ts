import { statusCategory } from './http.ts';
import type { CodeMeaning } from './node-errors.ts';
import type { Voice } from './phrases.ts';

/** After a status comes the end, a bracket or a stop; '503 results' goes on. */
const END = String.raw`\b(?=\s*(?:$|[\r\n,;:.!?)\]}{(\["'<>|]|[-–—]\s))`;
const STATUS = String.raw`([45]\d\d)`;
/** Who answers by a status. A customer who says 500 does not. */
const PEER = '(?:upstream|server|gateway|backend|proxy|api|endpoint)';
const ANSWERED =
  '(?:return(?:s|ed)|respond(?:s|ed) with|fail(?:s|ed) with|(?:answer(?:s|ed)|repli(?:es|ed))(?: with)?)';

/** A number that is called an HTTP status. */
const ALWAYS: readonly RegExp[] = [
  // 'HTTP 503', 'HTTP/1.1 503', 'HTTP error! status: 503'
  new RegExp(
    String.raw`\bHTTP(?:S|/\d(?:\.\d)?)?(?: (?:error|status|response))?!?(?: (?:status|code))?(?: code)?` +
      String.raw`[ :=(#]{1,3}${STATUS}\b`,
    'i',
  ),
  // 'status code 429 from upstream', and not 'order status code: 500'
  new RegExp(
    String.raw`(?<!\b(?:order|flight|shipment|delivery|payment|ticket|booking) )` +
      String.raw`\bstatus[ _-]?code["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}\b`,
    'i',
  ),
  // '503 Service Unavailable': each with its own phrase and in its own case, for 'Order 503 not found' is no status
  /\b(400 Bad Request|401 Unauthori[sz]ed|402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed)\b/,
  /\b(408 Request Time-?[oO]ut|409 Conflict|410 Gone|422 Unprocessable|429 Too Many Requests)\b/,
  /\b(500 Internal Server Error|501 Not Implemented|502 Bad Gateway)\b/,
  /\b(503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?[oO]ut)\b/,
  /\b([45]\d\d (?:Client|Server) Error)\b/, // requests
  // '{"status":503}'
  new RegExp(String.raw`["']status["']\s?:\s?["']?${STATUS}${END}`, 'i'),
  // 'Request to https://x failed: status 503', and not 'Flight status: 504'
  new RegExp(
    String.raw`\b(?:https?|request|response|upstream|server|gateway|api|fetch|endpoint|backend)\b[^\n]{0,80}?` +
      String.raw`(?:[(:,;.!-] ?|\b(?:with|returned|response|error) )(?:an? )?` +
      `status(?: was| is| of)?[ :=(]{1,3}${STATUS}${END}`,
    'i',
  ),
  new RegExp(String.raw`\b(?:fail|respond)ed with (?:an? )?status ${STATUS}${END}`, 'i'),
  // 'API error 503', 'Server error: 500'
  new RegExp(String.raw`\b(?:${PEER}|response) error(?: code)?[ :=#(]{1,3}${STATUS}${END}`, 'i'),
  // 'Error code: 429 - {…}', '529 {"type":"error"}': the SDKs of OpenAI and Anthropic
  new RegExp(String.raw`^\s*(?:error: )?(?:error code: )?${STATUS} (?:- )?\{`, 'i'),
  // 'the upstream answered 503', 'server says 503', 'Request failed with 502'
  new RegExp(
    String.raw`\b${PEER}(?: \w{1,20}){0,2}? (?:${ANSWERED}|says|got) (?:an? )?(?:status )?${STATUS}${END}`,
    'i',
  ),
  new RegExp(String.raw`\brequest failed with (?:an? )?${STATUS}${END}`, 'i'),
  // 'received 503 from upstream', 'got a 502 response'
  new RegExp(
    String.raw`\b(?:received|got) (?:an? )?(?:status )?${STATUS} (?:(?:error|response|status) )?` +
      String.raw`from (?:the |an? )?(?:\w{1,20} ){0,2}?(?:${PEER}\b|https?:)`,
    'i',
  ),
  new RegExp(String.raw`\b(?:received|got|with) (?:an? )?${STATUS} (?:error )?response\b`, 'i'),
  // nothing but the number
  new RegExp(String.raw`^\s*(?:Error:\s*)?${STATUS}\s*$`),
];

/**
 * Enough from a tool that broke. In an error result they may be anything: the status of a flight, the tool's own number
 * for 'ticket is closed', what a customer paid.
 */
const THROWN: readonly RegExp[] = [
  // 'status of 502'
  new RegExp(String.raw`\bstatus["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}${END}`, 'i'),
  // 'Error 503', 'Error code: 529 - overloaded'
  new RegExp(String.raw`\berror(?: code)?[ :=#]{1,3}${STATUS}${END}`, 'i'),
  // 'the search service answered 503'
  new RegExp(String.raw`\b${ANSWERED} (?:an? )?(?:status )?${STATUS}${END}`, 'i'),
];

/** The HTTP error status that a text tells of; undefined where it tells of none, or where a number may be anything. */
export function httpStatusIn(text: string, voice: Voice): CodeMeaning | undefined {
  for (const pattern of voice === 'thrown' ? [...ALWAYS, ...THROWN] : ALWAYS) {
    const status = pattern.exec(text)?.[1]?.slice(0, 3);
    const category = statusCategory(Number(status));
    if (category) return { category };
  }
  return undefined;
}
