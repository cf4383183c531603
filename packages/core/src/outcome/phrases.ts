import type { CodeMeaning } from './node-errors.ts';
import { TIMED_OUT, UNREACHED } from './outage-phrases.ts';
import { ABOUT_INPUT, anyCase, clause, type Group, opening, STOP, type Voice } from './phrase-parts.ts';

/** A page where JSON was due. Nobody's arguments begin so, whereas other bad JSON may be the model's. */
const NOT_JSON = /"<(?:!doctype|html|head|body|\?xml)[^"\n]{0,40}"(?:\.{3})? is not valid JSON/i;

/** In order: what is more telling comes first ('aborted due to timeout' is a time-out). */
const PHRASES: readonly Group[] = [
  {
    means: 'denied',
    always: [
      /\b(?:denied|rejected|declined) by (?:the |a )?(?:user|human|operator|policy|administrator)\b/i,
      /\buser doesn't want to proceed with this tool\b/i, // Claude Code
      /\b(?:user|human|operator) (?:denied|rejected|declined) (?:the |this )?(?:tool|call|request|permission)\b/i,
    ],
  },
  {
    means: 'invalid_input',
    always: [
      /\b(?:input validation error|invalid arguments? for (?:the )?tool|outside (?:of )?(?:the )?allowed director)/i,
    ],
  },
  {
    means: 'rate_limit',
    always: [
      // Loans have rates with limits too.
      anyCase(
        String.raw`(?<!\b(?:interest|exchange|mortgage|loan|lending|tax|growth|commission) )`,
        String.raw`\brate[ _-]?limits?[ _-](?:was |is |has been )?(?:exceeded|reached|hit|error)`,
      ),
      anyCase(
        String.raw`\b(?:hit|exceed(?:ed|s|ing)?|reached|over|due to|by) (?:an? |the |your |our )?`,
        String.raw`(?:api |secondary |request )?rate[ -]?limit(?:s|ing)?\b`,
      ),
      /\brate[ _-]?limited\b/i,
      opening(String.raw`rate[ -]limit(?:s|ing)?(?:[.!:,;]|\s*$)`),
      /\btoo many requests\b/i,
      /\b(?:request|call)s? (?:was|were|is|are|has been|have been) throttled\b/i,
      // AWS: 'Throttling: Rate exceeded', '(ThrottlingException)'. A throttling valve is a part.
      /\bThrottl(?:ing|ed)(?:Exception|Error)\b/,
      /\bthrottling(?=[:.)]|\s*$)/i,
      opening(String.raw`rate exceeded\b`),
    ],
    thrown: [/\brate[ _-]?limit(?:s|ed|ing)?(?![a-z])/i, /\bthrottling\b/i],
  },
  {
    means: 'resource',
    always: [
      // Sellers and salesmen have quotas; these are a provider's or a disk's.
      opening('quota exceeded for (?:quota |metric|project|the project|api)'),
      /\b(?:api|disk|storage|token|request|usage) quota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b/i,
      /\bexceed(?:ed|s)? (?:your |the )?(?:current|api|usage|request|token|disk|storage) quota\b/i,
      /\binsufficient_quota\b/i,
      /\bout of (?:memory|disk space)\b/i,
      /\bno space left on device\b/i,
      /\bdis[ck] (?:is )?full\b/i,
      /\btoo many open files\b/i,
      /\bcredit balance is too low to access\b/i,
      /\bRESOURCE_EXHAUSTED\b/,
      // MySQL, PostgreSQL. A journey has too many connections too.
      opening(String.raw`too many connections[.!]?\s*$`),
      /\b1040\b.{0,20}\bToo many connections\b/,
      /\bsorry, too many clients already\b/,
    ],
    thrown: [
      /\bquota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b/i,
      /\bexceed(?:ed|s)? (?:your |the )?(?:\w+ )?quota\b/i,
      /\binsufficient quota\b/i,
      /\bcredit balance is too low\b/i,
    ],
  },
  TIMED_OUT,
  {
    means: 'cancelled',
    always: [
      /\bAbortError\b/i,
      /\b(?:this|the) (?:operation|request) was (?:aborted|cancell?ed)\b/i,
      /\brequest was aborted\b/i,
      /\buser aborted a request\b/i, // node-fetch
      // An MCP server whose call was cancelled: its code would say that the connection is gone.
      /^MCP error -32\d{3}: (?:the )?(?:request|operation|call) (?:was )?cancell?ed[.!]?\s*$/i,
    ],
    thrown: [opening(String.raw`(?:(?:the )?(?:operation|request|call) )?(?:was )?cancell?ed[.!]?\s*$`)],
  },
  UNREACHED,
  {
    means: 'permission',
    always: [
      /\bpermission denied\b(?! by\b)/i,
      opening(String.raw`access (?:is |was )?denied\b(?! by\b)`),
      /\baccess denied for user\b/i, // MySQL
      /\bAccessDenied(?:Exception)?\b/,
      anyCase(String.raw`\boperation not permitted${STOP}`),
      /\bPermissionError\b/i,
      opening(String.raw`unauthenticated\b`),
      /\b(?:invalid|incorrect|expired|missing|revoked) (?:api[ _-]?key|access[ _-]?token|credentials)\b/i,
      /\b(?:api[ _-]?key|access[ _-]?token|credentials) (?:has |have |is |are )?(?:expired|revoked|invalid)\b/i,
      // A card's 3-D Secure authentication fails too.
      clause(String.raw`authentication (?:failed|error)\b`),
      /\bauthentication_error\b/,
      /\bbad credentials\b/i, // GitHub
      /\b(?:invalid_auth|not_authed|token_revoked)\b/, // Slack
      /\bjwt (?:has |is )?expired\b/i,
      /\bapi[ _-]?key (?:is required|(?:is |was )?(?:missing|not (?:found|set|provided|configured)))\b/i,
      opening(String.raw`(?:unauthori[sz]ed|forbidden)[.!]?\s*$`),
    ],
    thrown: [
      /\bpermission denied\b/i,
      /\baccess (?:is |was )?denied\b/i,
      /\b(?:auth |id |refresh |bearer )?token (?:has |is |was )?expired\b/i,
      /\boperation not permitted\b/i,
      /\bunauthenticated\b/i,
      /\bauthentication (?:failed|error)\b/i,
    ],
  },
  {
    means: 'server',
    always: [
      /\binternal server error\b/i,
      /\bbad gateway\b/i,
      clause(
        '(?:(?:the|this) )?(?:(?:api|backend|upstream|web) )?service (?:is )?(?:temporarily |currently )?' +
          String.raw`unavailable\b(?! (?:in|at|on|to|for(?! url))\b)`,
      ),
      /\b(?:server|api|upstream|backend) (?:is )?(?:temporarily |currently )?unavailable\b/i,
      /\b(?:server|api|model|engine) (?:is )?(?:temporarily |currently )?overloaded\b/i,
      /\boverloaded_error\b/i,
      opening(String.raw`overloaded[.!]?\s*$`),
      /\bno healthy upstream\b/i, // Envoy
      clause(String.raw`deadlock (?:detected\b|found when trying to get lock\b)`), // PostgreSQL, MySQL
      NOT_JSON,
      // Playwright, Puppeteer: the browser has crashed, or its server has closed it
      /\bTarget page, context or browser has been closed\b/,
      /\bProtocol error \([\w.]{1,60}\): (?:Target|Session) closed\b/,
    ],
    thrown: [
      /\bservice (?:is )?(?:temporarily |currently )?unavailable\b/i,
      /\b(?:model|engine) (?:is )?(?:temporarily |currently )?unavailable\b/i,
      new RegExp(String.raw`\bTarget closed${STOP}`),
    ],
  },
  {
    means: ABOUT_INPUT,
    always: [
      /\bno such file\b/i,
      /\bfile not found\b/i,
      /\bFileNotFoundError\b/i,
      /\bis a directory\b/i,
      /\bnot a directory\b/i,
      /\bfile (?:already )?exists\b/i,
      /\billegal operation on a directory\b/i,
    ],
  },
  {
    means: 'filesystem',
    always: [/\bread-only file ?system\b/i, /\binput\/output error\b/i, /\bstale file handle\b/i],
  },
  {
    means: 'invalid_input',
    always: [
      /\b(?:schema|argument|parameter|input|request) validation (?:failed|error)\b/i,
      opening('validation (?:failed|error)'),
      /\btool (?:input )?validation failed\b/i,
      opening(String.raw`model tried to call unavailable tool\b`), // AI SDK
      /\bToolInputParsingException\b/i,
      /\binvalid (?:tool |function )?(?:input|arguments?|parameters?|params)\b/i,
      /\bmissing required (?:argument|parameter|field|property|input)\b/i,
      /\bdoes not match (?:the |its )?(?:\w+ )?schema\b/i,
      /\binvalid url\b/i,
      opening(String.raw`unsupported protocol [\w+.-]{1,32}:\s*$`), // axios
      /\bmust be a string, Uint8Array, or URL without null bytes\b/, // node:fs
    ],
  },
];

/** What a phrase of the text means; undefined where it has none that we know. */
export function phraseIn(text: string, voice: Voice): CodeMeaning | undefined {
  const says = (patterns: readonly RegExp[] = []) => patterns.some((pattern) => pattern.test(text));
  const meaning = PHRASES.find(({ always, thrown }) => says(always) || (voice === 'thrown' && says(thrown)))?.means;
  return typeof meaning === 'string' ? { category: meaning } : meaning;
}
