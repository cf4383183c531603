import { statusCategory } from './http.ts';
import type { CodeMeaning } from './node-errors.ts';
import { oneOf, type Voice } from './phrase-parts.ts';

/** After a status comes the end, a bracket or a stop; '503 results' goes on. */
const END = String.raw`\b(?=\s*(?:$|[\r\n,;:.!?)\]}{(\["'<>|]|[-–—]\s))`;
const STATUS = String.raw`([45]\d\d)`;
/** Who answers by a status. A customer who says 500 does not. */
const PEER = '(?:upstream|server|gateway|backend|proxy|api|endpoint)';
const ANSWERED =
  '(?:return(?:s|ed)|respond(?:s|ed) with|fail(?:s|ed) with|(?:answer(?:s|ed)|repli(?:es|ed))(?: with)?)';

/** Statuses that there are. Where nothing calls a number a status, it has to be one of them. */
const KNOWN = '(4(?:0\\d|1[0-8]|2[1-689]|3[1-3]|51|99)|5(?:0[0-8]|1[01]|2\\d|30))';
/** After a number that is a status by its place alone: the end, or the words that go with it. */
const TAIL =
  String.raw`(?:${END}|\b(?= (?:bad|unauthori[sz]ed|payment|forbidden|not (?:found|allowed|acceptable|implemented)|` +
  String.raw`method|request|conflict|gone|unprocessable|too many|internal|service|gateway)\b))`;
/** A number with its own reason, in any case: returned, '500 internal' is a status, and '500 Points' is none. */
const REASONED =
  '(400 bad request|401 unauthori[sz]ed|402 payment required|403 forbidden|404 not found|405 method not allowed|' +
  '408 request time-?out|409 conflict|410 gone|422 unprocessable|429 too many requests|' +
  '500 internal(?: server| error|(?=[.!]?$))|501 not implemented|' +
  '502 bad gateway|503 (?:service )?(?:temporarily )?unavailable|504 gateway time-?out)';
const METHOD = '(?:GET|POST|PUT|PATCH|DELETE|HEAD)';
const VERB = oneOf(`fetch load get retrieve download upload search query call request read list create update delete
  send post submit save find access contact invoke scrape crawl refresh`);
const VERBING = oneOf(`fetching loading getting retrieving downloading uploading searching querying calling requesting
  reading listing creating updating deleting sending posting submitting accessing contacting invoking scraping crawling`);
const CALL = oneOf(
  'request search call query fetch lookup download upload api execution operation scrape crawl sync login',
);
/** What has a number of its own: 'Failed to get order id: 404'. */
const NUMBERED =
  'id|ids|no|number|port|line|row|column|position|index|offset|size|length|count|amount|total|price|balance|quantity|' +
  'version|year|zip|postcode|extension|pid';
/** The same where a tool's own data is more likely: 'Failed to book room (503)'. */
const OWNED = `${NUMBERED}|order|ticket|flight|room|seat|gate|item|user|customer|booking|invoice|account|case|issue`;
/** Not after one of these. */
const notAfter = (nouns: string) => `(?<!\\b(?:${nouns}))`;

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
  // ws
  new RegExp(String.raw`\bunexpected (?:server )?response(?: status| code| status code)?: ${STATUS}${END}`, 'i'),
  // 'Request failed: 500 Internal', and not 'Payment failed: 500'
  new RegExp(String.raw`\b(?:request|fetch|api|https?) (?:call )?failed(?:: | \()${KNOWN}${TAIL}`, 'i'),
  // 'Failed to fetch weather: 404 not found', as MCP's servers return what a tool threw. Of 'Error fetching the price of
  // SKU 12: 503' nobody knows what the number is.
  new RegExp(String.raw`\b(?:failed to ${VERB}|error ${VERBING}|api error)\b[^\n]{0,200}?: ${REASONED}\b`, 'i'),
  new RegExp(String.raw`\b${METHOD} (?:https?:/)?/[^\s:]{0,300}:? (?:[-=]> )?${REASONED}\b`, 'i'),
  // 'An API error occurred when calling brave: 429'
  new RegExp(String.raw`\bapi error occurred\b[^\n]{0,80}?: ${KNOWN}${END}`, 'i'),
  /\bHTTP(?:Status)?Error[ :(]{1,2}([45]\d\d)\b/,
  new RegExp(String.raw`^\s*(?:Error:\s*)?${KNOWN} upstream connect error\b`, 'i'),
  // nothing but the number
  new RegExp(String.raw`^\s*(?:Error:\s*)?${STATUS}\s*$`),
];

/**
 * Enough from a tool that broke. In an error result they may be anything: the status of a flight, the tool's own number
 * for 'ticket is closed', what a customer paid.
 */
const THROWN: readonly RegExp[] = [
  // 'Failed to load weather: 503 Service', 'Failed to load page (404)', 'Error calling x: 429'
  new RegExp(
    String.raw`\b(?:failed to ${VERB}|error ${VERBING})\b[^\n]{0,200}?` +
      String.raw`(?:${notAfter(NUMBERED)}: |${notAfter(OWNED)} \()(?:HTTP |status )?${KNOWN}${TAIL}`,
    'i',
  ),
  new RegExp(String.raw`\b${CALL} failed(?:: | \()${KNOWN}${TAIL}`, 'i'),
  // 'API error: 401 Bad credentials'
  /\bAPI [Ee]rror(?: code)?[ :=#(]{1,3}([45]\d\d) (?=[A-Z])/,
  // 'GET /users/9 404'
  new RegExp(String.raw`\b${METHOD} (?:https?:/)?/[^\s:]{0,300}:? (?:[-=]> )?${KNOWN}${END}`),
  /\bnot found \((404|410)\)/i,
  /^\s*(?:Error:\s*)?(404) not found[.!]?\s*$/i,
  new RegExp(String.raw`^\s*(?:Error:\s*)?expected (?:status )?2\d\d,? (?:but )?(?:got|received) ${KNOWN}${END}`, 'i'),
  // 'status of 502'
  new RegExp(String.raw`\bstatus["']?(?: was| is| of)?[ :=("']{1,4}${STATUS}${END}`, 'i'),
  // 'Error 503', 'Error code: 529 - overloaded'
  new RegExp(String.raw`\berror(?: code)?[ :=#]{1,3}${STATUS}${END}`, 'i'),
  // 'the search service answered 503'
  new RegExp(String.raw`\b${ANSWERED} (?:an? )?(?:status )?${STATUS}${END}`, 'i'),
];

/** What `res.statusText` says, alone or after what failed: 'Failed to load weather: Not Found'. */
const REASONS: Readonly<Record<string, number>> = {
  'Bad Request': 400,
  Unauthorized: 401,
  'Payment Required': 402,
  Forbidden: 403,
  'Not Found': 404,
  'Method Not Allowed': 405,
  'Unprocessable Entity': 422,
  'Too Many Requests': 429,
  'Internal Server Error': 500,
  'Bad Gateway': 502,
  'Service Unavailable': 503,
  'Gateway Timeout': 504,
};
const REASON = new RegExp(
  String.raw`^\s*(?:(?:Failed to ${VERB}|Error ${VERBING}|${CALL} failed)\b[^\n]{0,200}?: |Error: )?` +
    String.raw`(${Object.keys(REASONS).join('|')})[.!]?\s*$`,
);

/** The HTTP error status that a text tells of; undefined where it tells of none, or where a number may be anything. */
export function httpStatusIn(text: string, voice: Voice): CodeMeaning | undefined {
  const phrase = voice === 'thrown' ? REASON.exec(text)?.[1] : undefined;
  const byReason = phrase === undefined ? undefined : statusCategory(REASONS[phrase] ?? 0);
  if (byReason) return { category: byReason };
  for (const pattern of voice === 'thrown' ? [...ALWAYS, ...THROWN] : ALWAYS) {
    const status = pattern.exec(text)?.[1]?.slice(0, 3);
    const category = statusCategory(Number(status));
    if (category) return { category };
  }
  return undefined;
}
