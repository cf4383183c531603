import type { CodeMeaning } from './node-errors.ts';
import type { ErrorCategory } from './taxonomy.ts';

const ABOUT_INPUT = { category: 'filesystem', aboutInput: true } as const;

/**
 * Phrases that mean an outage, or the model's mistake, whoever says them. In order: what is more telling comes first
 * ('aborted due to timeout' is a time-out). A new one must not occur in the business of a tool: orders are cancelled,
 * seats unavailable and changes forbidden without anything being broken.
 */
const PHRASES: readonly (readonly [ErrorCategory | typeof ABOUT_INPUT, readonly RegExp[]])[] = [
  [
    'denied',
    [
      /\b(?:denied|rejected|declined) by (?:the |a )?(?:user|human|operator|policy|administrator)\b/i,
      /\b(?:user|human|operator) (?:denied|rejected|declined) (?:the |this )?(?:tool|call|request|permission)\b/i,
    ],
  ],
  [
    'invalid_input',
    [/\b(?:input validation error|invalid arguments? for (?:the )?tool|outside (?:of )?(?:the )?allowed director)/i],
  ],
  [
    'rate_limit',
    [
      /\brate[ _-]?limit(?:s|ed|ing)?(?![a-z])/i,
      /\btoo many requests\b/i,
      /\b(?:request|call)s? (?:was|were|is|are|has been|have been) throttled\b/i,
      /\bthrottling\b/i,
    ],
  ],
  [
    'resource',
    [
      /\bquota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b/i,
      /\bexceed(?:ed|s)? (?:your |the )?(?:\w+ )?quota\b/i,
      /\binsufficient[_ ]quota\b/i,
      /\bout of (?:memory|disk space)\b/i,
      /\bno space left on device\b/i,
      /\bdis[ck] (?:is )?full\b/i,
      /\btoo many open files\b/i,
      /\bcredit balance is too low\b/i,
    ],
  ],
  [
    'timeout',
    [
      /\btimed[ -]?out\b/i,
      /\bdeadline (?:was |has been )?exceeded\b/i,
      /\b(?:due to|after|gave up on) (?:an? )?time-?out\b/i,
      /\b(?:request|connect(?:ion)?|read|socket|response|operation|gateway|idle|headers?|body|query|call) time-?out\b/i,
      /Timeout(?:Error|Exception)\b/i,
      /\btime-?out (?:of \d{1,9} ?\w{0,12} )?(?:was |has been |is )?(?:exceeded|expired|reached|elapsed)\b/i,
      /\btime-?out after \d/i,
      /^(?:error: )?time-?out[.!]?$/i,
    ],
  ],
  [
    'cancelled',
    [
      /\bAbortError\b/i,
      /\b(?:this|the) (?:operation|request) was (?:aborted|cancell?ed)\b/i,
      /\brequest was aborted\b/i,
    ],
  ],
  [
    'network',
    [
      /\bconnection (?:was |has been |is )?(?:refused|reset|closed|aborted|lost|terminated|dropped)\b/i,
      /\bsocket hang up\b/i,
      /\bother side closed\b/i,
      /\bpremature close\b/i,
      /\bbroken pipe\b/i,
      /\bfetch failed\b/i,
      /\bfailed to fetch\b/i,
      /\bnetwork (?:error|is unreachable|unreachable|failure)\b/i,
      /\b(?:host|server) (?:is )?unreachable\b/i,
      /\bno route to host\b/i,
      /\b(?:cannot|could not|couldn't|can't|unable to|failed to) (?:connect to|resolve host)/i,
      /\bfailed to establish (?:a )?(?:new )?connection\b/i,
      /\bgetaddrinfo\b/i,
      /\bname resolution\b/i,
      /\bname or service not known\b/i,
      /\bself[- ]signed certificate\b/i,
      /\bcertificate (?:(?:has )?expired|verify failed)\b/i,
      /\bunable to verify the first certificate\b/i,
      /\bnot connected$/i,
    ],
  ],
  [
    'permission',
    [
      /\bpermission denied\b/i,
      /\baccess (?:is |was )?denied\b/i,
      /\boperation not permitted\b/i,
      /\bPermissionError\b/i,
      /\bunauthenticated\b/i,
      /\b(?:invalid|incorrect|expired|missing|revoked) (?:api[ _-]?key|access[ _-]?token|credentials)\b/i,
      /\b(?:api[ _-]?key|access[ _-]?token|credentials) (?:has |have |is |are )?(?:expired|revoked|invalid)\b/i,
      /\bauthentication (?:failed|error)\b/i,
      /^(?:error: )?(?:unauthori[sz]ed|forbidden)[.!]?$/i,
    ],
  ],
  [
    'server',
    [
      /\binternal server error\b/i,
      /\bbad gateway\b/i,
      /\bservice (?:is )?(?:temporarily |currently )?unavailable\b/i,
      /\b(?:server|api|model|engine) (?:is )?(?:temporarily |currently )?(?:overloaded|unavailable)\b/i,
      /\boverloaded_error\b/i,
      /^(?:error: )?overloaded[.!]?$/i,
    ],
  ],
  [
    ABOUT_INPUT,
    [
      /\bno such file\b/i,
      /\bfile not found\b/i,
      /\bFileNotFoundError\b/i,
      /\bis a directory\b/i,
      /\bnot a directory\b/i,
      /\bfile (?:already )?exists\b/i,
      /\billegal operation on a directory\b/i,
    ],
  ],
  ['filesystem', [/\bread-only file ?system\b/i, /\binput\/output error\b/i, /\bstale file handle\b/i]],
  [
    'invalid_input',
    [
      /\b(?:schema|argument|parameter|input|request) validation (?:failed|error)\b/i,
      /^(?:error: )?validation (?:failed|error)/i,
      /\btool (?:input )?validation failed\b/i,
      /\bToolInputParsingException\b/i,
      /\binvalid (?:tool |function )?(?:input|arguments?|parameters?|params)\b/i,
      /\bmissing required (?:argument|parameter|field|property|input)\b/i,
      /\bdoes not match (?:the |its )?(?:\w+ )?schema\b/i,
      /\binvalid url\b/i,
    ],
  ],
];

/** What a phrase of the text means; undefined where it has none that we know. */
export function phraseIn(text: string): CodeMeaning | undefined {
  const meaning = PHRASES.find(([, patterns]) => patterns.some((pattern) => pattern.test(text)))?.[0];
  return typeof meaning === 'string' ? { category: meaning } : meaning;
}
