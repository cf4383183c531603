import type { ErrorCategory } from '@breakerbox/core';
import type { Meaning } from '@breakerbox/core/internal';

/** A hint in prose, and the pattern that recognizes it. */
export interface Hint extends Meaning {
  readonly pattern: RegExp;
  /** Whether only libraries write it, and people seldom do. */
  readonly hard: boolean;
}

type Parts = readonly [string, ErrorCategory, string, Hint['host'], string, string];

/** Hints from lines such as 'network !@refused a refused connection: connection refused'. '|' begins a further pattern. `!` hard, `@` host. */
const hints = (lines: string): readonly Hint[] =>
  lines.split(/\n {2}(?=\w)/).map((line) => {
    const parts = /(\w+) (!?)(?:@(\w+))? ?([^:]+): ([\s\S]+)/.exec(line) as unknown as Parts;
    const [, category, hard, host, sign, source] = parts;
    const pattern = new RegExp(source.replace(/\n +/g, ''), 'i');
    return { category, sign, hard: hard === '!', pattern, ...(host && { host }) };
  });

const r = String.raw;
const NOT = r`not (?:been |currently )?`;
const CANNOT = r`\b(?:can(?:not|'t)|could(?: not|n't)|unable to|fail(?:ed|ure) to|did not) (?:be )?`;
/** A pattern for a thing and its state within one clause. */
const of = (thing: string, state: string) => r`(?<![\w-])(?:${thing})s?\b(?:[^.;\n]|\.(?=\w)){0,40}?\b(?:${state})`;
/** The connection, the peer that answers, the proof of identity, and the quota that the caller pays for. */
const LINE = r`(?<!flight |train |bus |bank )connection|socket|network|transport|websocket|stream|tunnel|proxy|handshake|pipe|dns|link`;
const PEER = r`(?<!room )service|server|backend|upstream|gateway|database|daemon|broker|browser|api|endpoint|engine|model|host|store|client|pool|system|cluster|search|cache`;
const PROOF = r`(?:api|access|auth|secret|bearer|refresh|id)[ -]?(?:key|token)|credential|jwt|oauth|grant|login|(?<!unexpected )token(?= (?:is|was|has|not|no))`;
const REFUTED = r`invalid|incorrect|expired|revoked|missing|required|no longer valid|${NOT}(?:valid|set|found|provided|configured)`;
const ACCOUNT = r`\b(?:api|plan|billing|usage|upgrade|monthly|daily|per (?:day|month|minute)|subscription|searches|requests?|metric|current|storage)\b`;
const PAID = r`\b(?:quotas?|credits?|credit balance|(?:usage|daily|monthly|request|search|spending|hard) limit|run out)\b|quota`;
const SPENT = r`exceed|exhaust|insufficient|not enough|too low|out of|\b(?:hit|reached|depleted)\b|used up|requires? more|no (?:more|remaining)|${NOT}active`;

/** These texts quote the arguments, or are about the page or the caller. Nothing else in such a text is evidence. */
export const FIRST =
  hints(r`invalid_input ! a card was declined: \bcard (?:error|declined)\b|\bStripeCardError\b|\bexpired card\b|\b(?:incorrect|invalid) (?:cvc|number|zip|pin)\b
  server ! the tool breaks its own output schema: ^(?:MCP error -32\d{3}: )?(?:Output validation error: |Structured content does not match|Tool [^\n:]{1,128} has an output schema but )
  denied ! a person or a policy refused the call: \b(?:denied|rejected|declined) by (?:the |a )?(?:user|human|operator|policy|admin)
    |\b(?:user|human|operator) (?:denied|rejected|declined)|\buser doesn't want to proceed
  invalid_input ! the arguments were refused: \bMCP error -3260[0-2]\b|\bvalidation errors? for\b|\bvalidation (?:error|failed)\b|\bunavailable tool\b
    |\binvalid (?:tool |function )?(?:input|arguments?|parameters?|params)\b|\bunexpected keyword argument|\binvalid value for (?:parameter|argument|field|option)|"code":\s*"(?:too (?:big|small)|unrecognized keys|invalid (?:type|string|format|union|value|enum value))"|\bmissing (?:\d+ )?required(?! env)
    |\bis a required property|\bexpected \w+, received\b|\binvalid type\b|\bmust be a string\b
  tool_error ! the model is told what to do first: \b(?:call|use|invoke) \w+(?:\(\))?[^\n]{0,60}\bfirst\b
  tool_error ! it looked, and found nothing: ^(?:error: )?(?:\w+ ){0,4}(?:no|0|zero) (?:rows|results|matches|records|documents)\b|\bcould not find (?:an? )?(?:exact )?match
    |\b(?:column|relation|table|function|schema|view|type) \S{1,80} (?:of relation \S{1,80} )?does not exist\b|\bat or near \"|\bviolates \S+ constraint
  tool_error ! the path is not allowed: \boutside (?:of )?(?:the )?(?:allowed|workspace|project|root)
  tool_error ! the tool waited for something in the page: (?=[^]*(?:time[ds]?[ -]?out|exceeded|not (?:found|visible|attached)|no such|unable to locate|violation))
    ^[^]*?\b(?:locator|selector|element|elementHandle|getBy\w+|waitFor\w+|waiting for (?:text|function))\b
  cancelled ! it was aborted: \bAbortError\b|\b(?:this|the) (?:operation|request|call) was (?:aborted|cancell?ed)\b(?! due)|\buser aborted
    |^(?:(?:the )?(?:request|operation|call) )?(?:was )?(?:aborted|cancell?ed)\W*$`);
/** About a customer's card, not about our account. */
export const DECLINED = FIRST.slice(0, 1);

/** Words of an outage: a limit, a connection, a peer, credentials, the machine. The first match counts. */
export const OUTAGES =
  hints(r`rate_limit ! a rate limit: (?<!\b(?:interest|exchange) )rate[ -]?limit(?! (?:of (?!your)|parameter|value|must))
    |\btoo many (?:requests|calls)|\btoo quickly|\bapi limit reached\b|\bexceeded [^\n]{0,30}\brequests per \w+|\bover \w+ limit\b|\brate limit of \d+ (?:\w+ )?(?:exceeded|reached)|\brate exceeded|\breduce (?:your )?request rate|^error code: 1015\b|\b(?:retry|try again) in \d+ ?s|\bthrottl(?:ed|ing)
  resource ! the account has no quota or credit: \b(?:quota exceeded(?=[.!]*$)|(?:exceeded your|insufficient) (?:current )?quota|credit balance is too low|insufficient credits|payment required to access)
  resource a quota or a credit is used up: ^(?=[^]*(?:${ACCOUNT}))(?=[^]*(?:${PAID}))[^]*(?:${SPENT})
    |\b(?:quotaexceeded|billing (?:error|hard limit|not active)|credit balance (?:too low|exhausted)|credits (?:exhausted|required))\b
  resource ! memory, disk or handles are used up: \bout of (?:memory|disk)|\b(?:cannot|unable to) allocate\b|\bconcurrent \w+ (?:limit )?(?:reached|exceeded)|\bno space left|\bresource temporarily unavailable|\bslots are reserved|\bmax\w* (?:number of )?(?:clients|connections|sessions)\b|\bdisk (?:is )?full|\btoo many (?:open files|clients|connections(?:\W*$| for\b))
    |\bresource(?:s| has been|s have been)? ?exhausted
  timeout ! a time-out: (?<!\b(?:hold|session|reservation|cart|booking) )\btime[ds]?[ -]?out\b(?!['"]? (?:\w+ )?(?:must|should|is not))
    |\bdeadline (?:was |has been )?exceeded\b|\bno response\b|\btoo long to respond|\bexceeded \d+ ?s\b|\bnot (?:properly )?respond|\bdatabase (?:table )?is locked\b|\btook too long\b
  resource a program that the tool needs cannot be started: ${CANNOT}(?:launch|start|spawn|find (?:chrom|firefox|browser))|\bsession not created|\bexecutable doesn't exist|\bloading shared libraries|\bopen shared object|\bcannot find module|\bno module named|\bcommand not found
    |${of('browser|chrome|chromium|firefox|distribution', `${NOT}(?:installed|found)|fail(?:ed|ure)|already in use`)}
  network !@missing no such host: ${CANNOT}resolve host|\b(?:name or service|nodename nor servname) not known|\b: no such host\b|\bnxdomain\b|\bgetaddrinfo failed
  network !@other a certificate: \bcertificate (?:verify failed|has expired|is not|signed by|problem)|\bself[- ]signed certificate|\bverify the first certificate|\bcertificate's altnames
  network !@refused a refused connection: \bconnection refused\b
  network ! a connection failed: ${of(LINE, `refused|reset|closed|lost|fail(?:ed|ure)|abort|terminat|drop|disconnect|unreachable|error|issue|problem|broken|interrupted|down\\b|${NOT}(?:open|connected|reachable)`)}
    |${CANNOT}(?:connect|reach|establish|contact|communicate)\b|\b(?:trouble|problem|error|failure|issue)s? (?:while |in |with )?(?:connecting|reaching|contacting|communicating)\b|\b(?:lost|dropped) (?:\w+ )?connection|\bno (?:connection could|listener)|\bactively refused|\bdial (?:tcp|udp|unix)\b|\bfetch failed\b|^(?:\w{0,20}error: )?failed to fetch\W*$|\bsocket hang up|\bother side closed
    |\bname resolution\b|\bmax retries exceeded with url|\bconnection attempts failed|\bconnect call failed|\bno route to host|\bclosed client\b|\bpremature close|\bupstream connect error\b.*
    |\b(?:server|host) (?:unexpectedly )?(?:closed|aborted|disconnected|terminated)|\bbroken pipe|: (?:unexpected )?EOF\W*$|^unexpected EOF\W*$|\bEOF occurred
    |^(?:[^\n]{0,60}: )?not connected\W*$|\bcontent-length mismatch|\b(?:error|failed|failure)(?: while| to)? (?:read|decod)(?:ing|e)? (?:an? |the )?(?:\w+ )?body\b|\bstream isn't writeable|\bconnection to [^\n]{1,80} (?:was|is) (?:refused|lost|closed)
  permission ! an API key that is missing or refused: \b(?:${REFUTED}|no|bad) (?:x-)?api[ -]?keys?\b|\bapi[ -]?keys? (?:(?:is|are|was|has|have|been) ){0,2}(?:${REFUTED})|(?:^|: )unauthori[sz]ed\W*$
  permission the tool's credentials: ${of(PROOF, REFUTED)}|\b(?:${REFUTED}|no|bad) (?:\w+ ){0,3}?(?:api|access|auth)?[ _-]?(?:keys?|tokens?|credentials)\b(?! (?:at|in|near|'|"))
    |\btoken (?:has |is |was )?(?:been )?(?:expired|revoked)|(?<!secure )\bauthentication (?:failed|error|required|method)|\bmust be authenticated|\brequires authentication|${CANNOT}(?:authenticate|log ?in)\b|\bre-?authenticate|\b(?:define|provide|set) (?:\w+ ){0,2}token\b|\bunable to locate credentials
    |\b(?:invalid auth|not authed|missing scope|token (?:revoked|invalid)|session expired or invalid|invalid grant|api key (?:invalid|expired))\b|\bnot subscribed to|\baccess denied for user
    |\bpermission denied\b(?! for (?:table|relation|schema|view|column|function|database|sequence))|^(?:\w*error: ?)?access (?:is |was )?denied\b(?! by\b| -)|\boperation not permitted|\bno pg hba\b|\bunauthenticated\b|\bunauthori[sz]ed\b(?! (?:access|to))|^(?:\w*error: )?forbidden\W*$
  filesystem the disk: \bread-only file ?system|\binput\/output error|\bdisk image is malformed|\bdisk i\/o error|\bunable to open database file|\bstale file handle
  server ! the words of a status: ^server error\W*$|\bbad gateway\b|\binternal server error\b|\bno healthy upstream\b|(?:^|[:.] ?)(?:the |our |this )?(?:service|server|model|engine|api|system) (?:is )?(?:currently |temporarily )?(?:unavailable|overloaded)(?! (?:in|at|for)\b)
  server a server is broken: ${of(PEER, `(?:temporarily |currently )?unavailable(?! (?:in|at|on|to|for(?! url))\\b)|unreachable|overloaded|offline|crash|being (?:re|up|mig)\\w+|returned an? (?:empty|malformed) |down\\b(?! with)|starting up|shutting down|gone away|has been closed|had an error|${NOT}(?:respond|reachable|available|healthy|initialized|ready)`)}
    |\bcrashed\b|\bexited with code|\bno (?:\w+ )?(?:service|server|worker|node|backend|host|instance)s? available|\bsegmentation fault|\bkilled by signal|\b(?:unexpected|bad|invalid|malformed|empty) (?:response|reply) from\b|\bserver error\b(?! in)|(?<!\b(?:process|job|task|workflow|script|session|game|timer|account|instance) (?:is )?)\bnot (?:running|connected)\b(?! to your)
    |\binternal error\b|\bunexpected (?:\w+ )?error\b(?! (?:in|at|near)\b|:)|\binternal: |\boverloaded|\bmaintenance\b|\bdeadlock (?:det|found)|\bterminating connection
    |"<(?:!doctype|html|head|body|\?xml)[^"\n]{0,40}"(?:\.{3})? is not valid JSON|\b(?:target|session) closed\W*$|\bexceeded \d+ redirects|\bon our (?:side|end)\b|\bsomething went wrong`);

/** Words about the requested object: missing, existing, wrong or forbidden. The first match counts; a bug has no meaning. */
export const ANSWERS =
  hints(r`unknown a bug in the tool: \bcannot (?:read|set) propert|\bis not (?:a function|a constructor|iterable|valid JSON)|\bobject has no attribute|'NoneType'
    |\bundefined is not|\bmaximum call stack|\bnil pointer|\bin JSON at position|\bJSON input\b
  invalid_input the text is about the arguments: \b(?:invalid|malformed|unsupported|unrecognized|illegal|incorrect|incompatible|required(?! env)|expect(?:ed|ing)|out of (?:range|bounds))\b
    |\bmust (?:be|have|not|start|contain)\b
  tool_error the text is about what was asked for: n't\b|\b(?:not?|none|nothing|never|cannot|\w*already\w*|only|must|should|unknown|missing|duplicate|ambiguous|insufficient|wrong|unexpected|unavailable|exceed\w*)\b
    |\b(?:too \w+|at least|at most|maximum|more than|please|denied|disabled|closed|cancell?ed|expired|declined|rejected|ended|full|empty|conflict|conditional|archived|different|mismatch|violat\w+)\b
    |\b(?:syntax error|circular|unclosed|needed|reached|division by zero|requires?|failed: zero results|in your|unprocessable|constraint|domain error|access to|\w+ exception|unable to (?:parse|find|locate|identify|determine)|select|timed out)\b
  server it may work later: \b(?:try again|retry) (?:later|in a (?:few|moment|while|minute))\b
  tool_error the text is about something other than a machine: ^(?![^]*\b(?:${LINE}|${PEER})s?\b)[^]*\b(?:is|are|was|were|has|have|had|would|needs?|can|may|give)\b`);

/** Whether a word may be what a text about an outage is made of. */
export const isOutageWord = (word: string): boolean =>
  WORD.test(word) || OUTAGES.some(({ pattern }) => pattern.test(word));
const WORD = new RegExp(
  `^(?:${LINE}|${PEER}|${PROOF}|error|failed|failure|unavailable|internal|limit|quota|status|request|response)s?$`,
);
