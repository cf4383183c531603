import type { CodeMeaning } from './node-errors.ts';
import type { ErrorCategory } from './taxonomy.ts';

/** Who says a text. A tool throws when it breaks; what it returns is an answer more often than an outage. */
export type Voice = 'thrown' | 'returned';

interface Group {
  readonly means: ErrorCategory | typeof ABOUT_INPUT;
  /** Mean an outage, or the model's mistake, whoever says them. Must not occur in the business of a tool. */
  readonly always: readonly RegExp[];
  /**
   * Mean it where they were thrown; in an error *result* they are business too: seat holds time out, gift certificates
   * expire, card issuers deny access, room service is unavailable.
   */
  readonly thrown?: readonly RegExp[];
}

const ABOUT_INPUT = { category: 'filesystem', aboutInput: true } as const;

/** One of several words. */
const oneOf = (words: string) => `(?:${words.trim().split(/\s+/).join('|')})`;
const anyCase = (...parts: readonly string[]) => new RegExp(parts.join(''), 'i');
/** At the beginning of the text, where no word before it changes what it means, as in 'gift certificate expired'. */
const opening = (source: string) => anyCase(String.raw`^\s*(?:[\w.]{0,60}(?:error|exception): ?)?`, source);
/** The same at the beginning of the text or of a part of it: 'request to https://x failed, reason: <here>'. */
const clause = (source: string) => anyCase(String.raw`(?:^|[\n:;,.!(\]] ?)`, source);
/** At the end of a sentence: 'the host is down.', and not 'the host is down with a cold'. */
const STOP = String.raw`(?=\s*(?:$|[\n.,;:!?)\]'"]))`;

/** What a computer waits for, and a customer does not. */
const WAITS =
  'request connect connection read write socket response operation gateway idle header headers body query call';
const WAIT = oneOf(WAITS);
const WORK = oneOf(
  `${WAITS} fetch command process execution script task tool server upstream api host handshake lookup navigation`,
);
const RAN_OUT = '(?:was |has been |is )?(?:exceeded|expired|reached|elapsed)';

/** Classes of other languages, as their traces name them: Python's ssl, requests, httpx, aiohttp; Java. */
const NETWORK_CLASS = oneOf(String.raw`
  \w{0,20}Connect(?:ion)?(?:Refused|Reset|Aborted|or)?Error NameResolutionError MaxRetryError RemoteDisconnected
  ServerDisconnectedError RemoteProtocolError IncompleteRead ProxyError SSL(?:CertVerification)?Error gaierror
  UnknownHostException ConnectException SocketException NoRouteToHostException SSLHandshakeException`);

/** In order: what is more telling comes first ('aborted due to timeout' is a time-out). */
const PHRASES: readonly Group[] = [
  {
    means: 'denied',
    always: [
      /\b(?:denied|rejected|declined) by (?:the |a )?(?:user|human|operator|policy|administrator)\b/i,
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
      opening(String.raw`quota exceeded(?:[.!]?\s*$|:| for (?:quota |metric|project|the project|api))`),
      /\b(?:api|disk|storage|token|request|usage|user) quota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b/i,
      /\bexceed(?:ed|s)? (?:your |the )?(?:current|api|usage|request|token|disk|storage) quota\b/i,
      /\binsufficient_quota\b/i,
      /\bout of (?:memory|disk space)\b/i,
      /\bno space left on device\b/i,
      /\bdis[ck] (?:is )?full\b/i,
      /\btoo many open files\b/i,
      /\bcredit balance is too low to access\b/i,
    ],
    thrown: [
      /\bquota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b/i,
      /\bexceed(?:ed|s)? (?:your |the )?(?:\w+ )?quota\b/i,
      /\binsufficient quota\b/i,
      /\bcredit balance is too low\b/i,
    ],
  },
  {
    means: 'timeout',
    always: [
      anyCase(String.raw`\b${WORK} (?:(?:to|for|from) \S{1,200} )?(?:has |was )?timed[ -]?out\b`),
      opening(String.raw`timed[ -]?out\b`),
      clause(String.raw`timed[ -]?out[.!]?\s*$`), // Python's sockets, in what FastMCP writes before them
      anyCase(
        String.raw`\btimed[ -]?out (?:while |when )?(?:connecting|reading|fetching|`,
        String.raw`waiting for (?:an? |the )?(?:response|reply|server|connection|headers))\b`,
      ),
      anyCase(
        String.raw`(?<!\b(?:hold|session|reservation|offer|cart|booking|quote) )`,
        String.raw`\btimed[ -]?out after \d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|s|secs?|seconds?)\b`,
      ),
      // 'Request timeout', and not 'Request timeout value must be positive'
      new RegExp(
        String.raw`\b${WAIT} time-?out(?:\s*$|[\n.!,;)\]]|:(?! ?(?:must|should|expected|invalid))|` +
          String.raw` (?:\(|(?:${RAN_OUT}|after|while|waiting|error|occurred|on)\b))`,
        'i',
      ),
      // axios, Puppeteer: 'timeout of 30000 ms exceeded'; Playwright: 'Timeout 30000ms exceeded'
      anyCase(String.raw`\btime-?out (?:of )?\d{1,9} ?\w{0,12} ${RAN_OUT}\b`),
      /\btime-?out after \d{1,9} ?(?:ms|s)\b/i,
      opening(String.raw`time-?out(?:[.!]?\s*$| ${RAN_OUT}\b)`),
      anyCase(String.raw`\b${WAIT} (?:was |is |has been )?\w{1,12} (?:due to|after) (?:an? )?time-?out\b`),
      /Timeout(?:Error|Exception)\b/i,
      /\b(?:Connect|Read|Write|Pool)Timeout\b/, // requests, httpx
      /\bcontext deadline exceeded\b/i, // Go
      opening(String.raw`deadline exceeded\b`),
      /\b(?:i\/o|handshake) timeout\b/i, // Go
    ],
    thrown: [
      /\btimed[ -]?out\b/i,
      /\bdeadline (?:was |has been )?exceeded\b/i,
      /\b(?:due to|after|gave up on) (?:an? )?time-?out\b/i,
      anyCase(String.raw`\btime-?out ${RAN_OUT}\b`),
      /\btime-?out after \d/i,
    ],
  },
  {
    means: 'cancelled',
    always: [
      /\bAbortError\b/i,
      /\b(?:this|the) (?:operation|request) was (?:aborted|cancell?ed)\b/i,
      /\brequest was aborted\b/i,
    ],
  },
  {
    means: 'network',
    always: [
      new RegExp(String.raw`\b${NETWORK_CLASS}\b`),
      // Flights and trains have connections too.
      anyCase(
        String.raw`(?<!\b(?:flight|train|bus|rail) )\bconnection (?:was |has been |is )?`,
        String.raw`(?:refused|reset|closed|aborted|lost|terminated|dropped)\b`,
      ),
      /\ball connection attempts failed\b/i, // anyio, and with it httpx
      /\bmax retries exceeded with url\b/i, // urllib3
      /\bsocket hang up\b/i,
      /\bother side closed\b/i,
      /\bpremature close\b/i,
      /\bstream has been aborted\b/i, // axios, whose code for it says nothing
      /\bserver aborted pending request\b/i, // got
      /\bcontent-length mismatch\b/i, // got, undici
      anyCase(String.raw`\bbroken pipe${STOP}`),
      anyCase(String.raw`\bhost is down${STOP}`),
      // Go, of a connection; a parser's is about what it was given.
      /^(?![\s\S]*\b(?:pars|syntax|json|yaml|xml|unmarshal|matching))[\s\S]*\bunexpected EOF["')]?\s*$/i,
      /\bEOF occurred in violation of protocol\b/,
      /\b(?:tls|ssl)\b.{0,20} handshake (?:failed|failure|error)\b/i,
      /\b(?:tls|ssl)[ :]{1,2}handshake (?:failed|failure|error)\b/i,
      /\bfetch failed(?=[.!]?\s*(?:$|[\n(]))/i,
      /\bfailed to fetch(?=[.!]?\s*$)/i,
      /\bnetwork (?:error|is unreachable|unreachable|failure)\b/i,
      /\b(?:host|server) (?:is )?unreachable\b/i,
      /\bno route to host\b/i,
      /\b(?:cannot|could not|couldn't|can't|unable to|failed to) (?:connect to|resolve host)/i,
      /\bfailed to establish (?:a )?(?:new )?connection\b/i,
      /\bgetaddrinfo\b/i,
      /\bfailure in name resolution\b/i,
      /\bname resolution (?:failed|failure|error)\b/i,
      /\bname or service not known\b/i,
      /\bself[- ]signed certificate\b/i,
      /\bcertificate verify failed\b/i,
      clause(String.raw`certificate (?:has )?expired\b`),
      /\bunable to verify the first certificate\b/i,
      opening(String.raw`not connected[.!]?\s*$`),
    ],
    thrown: [
      /\bbroken pipe\b/i,
      /\bfetch failed\b/i,
      /\bfailed to fetch\b/i,
      /\bname resolution\b/i,
      /\bcertificate (?:has )?expired\b/i,
      /\bnot connected$/i,
    ],
  },
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
      opening(String.raw`(?:unauthori[sz]ed|forbidden)[.!]?\s*$`),
    ],
    thrown: [
      /\bpermission denied\b/i,
      /\baccess (?:is |was )?denied\b/i,
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
    ],
    thrown: [
      /\bservice (?:is )?(?:temporarily |currently )?unavailable\b/i,
      /\b(?:model|engine) (?:is )?(?:temporarily |currently )?unavailable\b/i,
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
