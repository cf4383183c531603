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
    const parts = /^(\w+) (!?)(?:@(\w+))? ?([^:]+): ([\s\S]+)/.exec(line) as unknown as Parts;
    const [, category, hard, host, sign, source] = parts;
    const pattern = new RegExp(source.replace(/\n +/g, ''), 'i');
    return { category, sign, hard: hard === '!', pattern, ...(host && { host }) };
  });

const r = String.raw;
const NOT = r`not (?:yet |been |currently )?`;
const CANNOT = r`\b(?:can(?:not|'t)|could(?: not|n't)|unable to|fail(?:ed|ure) to|did not) (?:be )?`;
/** A pattern for a thing and its state within one clause. */
const of = (thing: string, state: string) => r`(?<![\w-])(?:${thing})s?\b(?:[^.;\n]|\.(?=\w)){0,40}?\b(?:${state})`;
/** People and things that a tool is asked about, the connection, the peer that answers, the proof of identity, and the quota that the caller pays for. */
const THEY = r`(?:customer|recipient|candidate|contact|member|subscriber|user|driver|supplier|manager|player|guest|seller|buyer|vendor|patient|device|lock)s?`;
const LINE = r`(?<!flight |train |bus |bank )connection(?! request)|socket|network|transport|websocket|stream|tunnel|proxy|handshake|pipe|dns|link`;
const PEER = r`(?<!room )service|server|backend|upstream|gateway|database|daemon|broker|browser|api|endpoint|engine|model|host|store|client|pool|system|cluster|search|cache`;
const PROOF = r`(?:api|access|auth|secret|security|bearer|refresh|id)[ -]?(?:key|token)|credential|jwt|oauth|grant|login|(?<!unexpected )token(?= (?:is|was|has|not? (?!found)))`;
const REFUTED = r`invalid|incorrect|expired|revoked|missing|required|no longer valid|${NOT}(?:valid|set|found|provided|configured)`;
const ACCOUNT = r`\b(?:api|plan|billing|usage|upgrade|monthly|daily|per (?:day|month|minute)|subscription|searches|requests?|metric|current|storage|pay-as-you-go)\b`;
const PAID = r`\b(?:credits?|(?:usage|daily|monthly|request|search|spending|hard|pay-as-you-go) limit|run out)\b|quota`;
const SPENT = r`exceed|exhaust|insufficient|not enough|too low|out of|\b(?:hit|reached|depleted)\b|used up|requires? more|no (?:more|remaining)|${NOT}active`;

/** These texts quote the arguments, or are about the page or the caller. Nothing else in such a text is evidence. */
export const FIRST =
  hints(r`invalid_input ! a customer's payment was declined: \bcard (?:error|declined)\b|\b(?:payment|transaction|transfer) (?:was )?(?:declined|refused|rejected)\b|\bStripeCardError\b|\bexpired card\b|\b(?:incorrect|invalid) (?:cvc|number|zip|pin)\b
  server ! the tool breaks its own output schema: ^(?:MCP error -32\d{3}: )?(?:Output validation error: |Structured content does not match|Tool [^\n:]{1,128} has an output schema but )
  denied ! a person or a policy refused the call: \b(?:denied|rejected|declined) by (?:the |a )?(?:user|human|operator|policy|admin)
    |\b(?:user|human|operator) (?:denied|rejected|declined)|\buser doesn't want to proceed
  invalid_input ! the arguments were refused: \bMCP error -3260[0-2]\b|\bvalidation errors? for\b|\bvalidation ?(?:error|exception|failed)\b|\bunavailable tool\b
    |\binvalid (?:tool |function )?(?:input|arguments?|parameters?|params)\b|\bunexpected keyword argument|\binvalid value for (?:parameter|argument|field|option)|"code":\s*"(?:too (?:big|small)|unrecognized keys|invalid (?:type|string|format|union|value|enum value))"|\bmissing (?:\d+ )?required(?! env)
    |\bis a required property|\bexpected \w+, received\b|\binvalid type\b|\bmust be a string\b
  tool_error ! the model is told what to do first: \b(?:call|use|invoke) (?!connect\(\))\w+(?:\(\))?[^\n]{0,60}\bfirst\b
  tool_error ! it looked, and found nothing: ^(?:error: )?(?:\w+ ){0,4}(?:no|0|zero) (?:rows|results|matches|records|documents)\b|\bcould not find (?:an? )?(?:exact )?match
    |\b(?:column|relation|table|function|schema|view|type) \S{1,80} (?:of relation \S{1,80} )?does not exist\b|\bat or near \"|\bviolates \S+ constraint
  tool_error ! the path is not allowed: \boutside (?:of )?(?:the )?(?:allowed|workspace|project|root)
  tool_error ! the tool waited for something in the page: (?=[^]*(?:time[ds]?[ -]?out|exceeded|not (?:found|visible|attached)|no such|unable to locate|violation))
    ^[^]*?\b(?:locator|selector|element|elementHandle|getBy\w+|waitFor\w+|waiting for (?:text|function))\b
  cancelled ! it was aborted: \bAbortError\b|\b(?:this|the) (?:operation|request|call) was (?:aborted|cancell?ed)\b(?! due)|\buser aborted
    |^(?:(?:the )?(?:request|operation|call) )?(?:was )?(?:aborted|cancell?ed)\W*$`);

/** What libraries say when a signal fires, alone or after a prefix. People say the last two words of an order. */
const ABORT = [
  r`(?:[^\n]{0,160}:[\s"']{1,3})?(?:AbortError|th(?:is|e) operation was aborted|the user aborted a request|(?:the )?request (?:was )?aborted|signal is aborted without reason|the operation was canceled|a task was canceled)`,
  r`(?![^\n:]*\b(?:order|payment|transaction|transfer|booking|reservation|subscription|job|task|run|build|workflow)s?\b)[^\n:]{0,80}(?:fail(?:ed|ure)|error|exception)\b[^\n:]{0,60}:[\s"']{1,3}(?:aborted|canceled)`,
];
const ALONE = r`[^\w\n]*(?:\s*$|\n\s+at )`;
/** O10: the whole text of an abort. "Canceled" and "Cancelled" may be a person's answer. */
export const ABORTED: readonly RegExp[] = [
  new RegExp(`^(?:${ABORT.join('|')})${ALONE}`, 'i'),
  new RegExp(`^(?:[Aa]borted|canceled)${ALONE}`),
];

/** Words of an outage: a limit, a connection, a peer, credentials, the machine. The first match counts. */
export const OUTAGES =
  hints(r`rate_limit ! a rate limit: (?<!\b(?:interest|exchange) )rate[ -]?limit(?! (?:of (?!your)|parameter|value|must))
    |\btoo many (?:requests|calls|simultaneous queries)|\bexcessive requests\b|\btoo quickly|\bapi limit reached\b|\bexceeded [^\n]{0,30}\brequests per \w+|\b(?:over (?:your|query|rate|request|usage|call)|(?:you|you're) are over the) limit\b|\brate limit of \d+ (?:\w+ )?(?:exceeded|reached)|\brate exceeded|\breached your \w+ly limit\b|\breduce (?:your )?request rate|^error code: 1015\b|\b(?:retry|try again) in \d+ ?s|\bthrottl(?:ed|ing)
    |zu viele an(?:frag|forderung)en|trop de requêtes|demasiadas (?:solicitudes|peticiones)|(?:请求|访问|调用|操作)(?:过于|太|次数)?(?:频繁|过多)|(?:触发|超出|超过)了?(?:限流|频率|速率)|リクエストが多すぎ|слишком много запросов
  resource ! the account has no quota or credit: \b(?:(?<!leave )quota exceeded(?=[.!]*$)|(?:exceeded your|insufficient) (?:(?!leave)\w+ )?quota|credit balance is too low|insufficient credits|payment required to access)
  resource a quota or a credit is used up: ^(?=[^]*(?:${ACCOUNT}))(?=[^]*(?:${PAID}))[^]*(?:${SPENT})
    |\b(?:quotaexceeded|billing (?:error|not active)|credit balance (?:too low|exhausted)|credits (?:exhausted|exceeded|required))\b|kontingent[^.\n]{0,20}(?:erschöpft|überschritten|aufgebraucht)|(?:额度|配额|资源包|调用次数)(?:不足|已?用[完尽]|已耗尽|超限)
  resource ! memory, disk or handles are used up: \bout of (?:memory|disk)|\bmemory limit \(total\) exceeded|\bused memory >|\b(?:cannot|unable to) allocate\b|\bconcurrent \w+ (?:limit )?(?:reached|exceeded)|\bno space left|\bresource temporarily unavailable|\bslots are reserved|\bmax\w* (?:number of )?(?:clients|connections)\b|\bdisk (?:is )?full|\btoo many (?:open files|clients|connections(?:\W*$| for\b))
    |\bresource(?:s| has been|s have been)? ?exhausted
  timeout ! a time-out: (?<!\b(?:hold|session|reservation|cart|booking|quote|poll|game|auction|offer) (?:has |is )?)\btime[ds]?[ -]?out\b(?!['"]? (?:\w+ )?(?:must|should|is not))
    |(?<!\b(?:submission|application|payment) )\bdeadline (?:was |has been )?exceeded\b|\bno response\b(?! from (?:the |your |this )?${THEY}\b(?! (?:${PEER})))|\btoo long to respond|\bexceeded \d+ ?s\b|(?<!\b${THEY} (?:is |are |did |has |have )?)\bnot (?:properly )?respond|\bdatabase (?:table )?is locked\b|\btook too long\b|\bexecution expired\b|\bnot be completed within\b|zeitüberschreitung|délai d.attente|tiempo de espera|(?:请求|连接|响应|操作|读取|调用)超时|超时错误|タイムアウト|время ожидания
  resource a program that the tool needs cannot be started: ${CANNOT}(?:launch|start(?! (?:the |a |an )?(?:sprint|trial|timer|game)\b)|spawn|find (?:chrom|firefox|browser))|\bsession not created|\bexecutable doesn't exist|\bopen shared object|\bcannot find module|\bno module named|\bcommand not found
    |${of('browser|chrome|chromium|firefox|distribution', `${NOT}(?:installed|found)|fail(?:ed|ure)|already in use`)}
  network !@missing no such host: ${CANNOT}resolve host|\b(?:name or service|nodename nor servname) not known|(?:^|\b: )no such host\b|\bhostname could not be found|\bnxdomain\b|\bgetaddrinfo failed
  network !@other a certificate: (?<!\b(?:gift|birth) )\bcertificate (?:verify failed|has expired|is not (?:yet )?(?:valid|trusted|signed|standards)|signed by|problem)|\bself[- ]signed certificate|\bverify the first certificate|\bcertificate's altnames|\bhost key verification failed
  network !@refused a refused connection: \bconnection refused\b
  network ! a connection failed: ${of(LINE, `refused|reset|closed|lost|fail(?:ed|ure)|abort|terminat|drop|disconnect|disposed|unreachable|error|issue|problem|broken|interrupted|(?<!stream (?:is )?(?:currently )?)offline|down\\b|not be established|${NOT}(?:open|connected|reachable)`)}
    |${CANNOT}(?:connect|reach|contact|communicate|establish(?= (?:\S+ ){0,4}?(?:${LINE}|session|trust)))\b(?! (?:to |with )?(?:the |your |this )?${THEY}\b(?! (?:${PEER})))|\b(?:trouble|problem|error|failure|issue)s? (?:occurred )?(?:while |in |with )?(?:(?:our |the )?connection to|connecting|reaching|contacting|communicating)\b|\b(?:lost|dropped) (?:\w+ )?connection|\bno (?:connection could be made|listener)|\bdial (?:tcp|udp|unix)\b|\bfetch failed\b|^(?:\w{0,20}error: )?(?:failed to fetch|terminated)\W*$|^(?:\w{0,20}error: )?unreachable hosts\b|\bsocket hang up|\bother side closed
    |\bname resolution\b|\bmax retries exceeded with url|\bconnect call failed|\bno route to host|\bpremature close|\bupstream connect error\b.*
    |\b(?:server|host|peer|remote end) (?:has |unexpectedly )?(?:closed|aborted|disconnected|terminated)|\bbroken pipe|(?:^|: )(?:unexpected )?EOF\W*$|\bend of file reached|\bclosed network\b|\bEOF occurred
    |^(?:[^\n]{0,60}: )?not connected\W*$|\bcontent-length mismatch|\b(?:error|failed|failure)(?: while| to)? (?:read|decod)(?:ing|e)? (?:an? |the )?(?:\w+ )?body\b|\bstream isn't writeable
    |\b(?:from|on|with) an? closed (?:client|connection|database|pool|socket)\b|\bafter calling (?:end|close)\b|\bwrite after (?:end|a stream was destroyed)\b|\bended by the other party|\bno living connections|\bclient must be connected|\bnot queryable|\b(?:page has been|window already) closed\b
    |^(?:[^\n]{0,60}: )?(?:the )?(?:pool|topology|channel|client|producer|consumer) (?:is |was |has been )?(?:closed|ended|destroyed|disconnected|shut down)(?:\W*$|, no reply)
    |\bverbindung(?: zu\w* [\w.-]+)? (?:wurde )?(?:verweigert|abgelehnt|abgebrochen|fehlgeschlagen)|connexion (?:refusée|interrompue|perdue)|conexión (?:rechazada|perdida)|无法连接|连接(?:失败|错误|异常|被拒绝|被重置|断开)|网络(?:错误|异常)|接続(?:できません|に失敗|が拒否|エラー)|ошибка (?:сети|соединения)
  permission ! an API key that is missing or refused: \b(?:${REFUTED}|no|bad) (?:x-)?api[ -]?keys?\b|\bapi[ -]?keys? (?:(?:is|are|was|has|have|been) ){0,2}(?:${REFUTED})|(?:^|: )unauthori[sz]ed\W*$
  permission the tool's credentials: ${of(PROOF, REFUTED)}|\b(?:${REFUTED}|no|bad) (?:\w+ ){0,3}?(?:(?:api|access|auth|secret|subscription|client)[ _-]?(?:keys?|tokens?)|token(?! (?:address|pair|symbol|id|amount))|tokens(?! found)|credentials)\b(?! (?:at|in|near|'|"))
    |\btoken (?:has |is |was )?(?:been )?(?:expired|revoked)|(?<!secure )\bauthentication (?:failed|error|required|method)|\bmust be authenticated|\brequires authentication|${CANNOT}(?:authenticate|log ?in|(?:load|find|obtain|retrieve|refresh) (?:\w+ ){0,2}(?:credentials|token))\b|\bre-?authenticate|\b(?:define|provide|set) (?:\w+ ){0,2}(?:token|api key)\b|\buse an api key\b|\bunable to locate credentials|\bcould not read (?:username|password) for\b
    |\b(?:invalid auth|not authed|missing scope|token invalid|session expired or invalid|invalid grant)\b|(?<!\b${THEY} (?:is )?)\bnot subscribed to|\b(?:access denied|login failed) for user\b|\blogon denied
    |\bpermission denied\b(?! for (?:table|relation|schema|view|column|function|database|sequence))|^(?:\w*error: ?)?access (?:is |was )?denied\b(?! by\b| -)|\boperation not permitted|\bno pg hba\b|\bunauthenticated\b|\bunauthori[sz]ed\b(?! (?:access|to))|^(?:\w*error: )?forbidden\W*$
    |\b(?:insufficient|required|granted)(?: \w+){0,2} (?:scope|privilege|permission)s\b|\bnot authori[sz]ed to (?:perform|use|call) this (?:operation|api)|\bapi (?:has|is) not (?:been )?(?:used|enabled)\b|\byour ip\b[^\n]{0,60}\b(?:not|blocked|denied)\b|\b535[ -]5\.7|^(?:error: )?not authenticated\W*$
    |api[ -]?(?:schlüssel|key|密钥|キー)[^.\n]{0,12}(?:ungültig|abgelaufen|无效|错误|过期|無効)|(?:密钥|令牌|凭证)(?:无效|错误|已过期|已失效)|(?:clé|clave)(?: d.| de )?(?: ?l.)? ?api[^.\n]{0,9}inv[aá]lid|(?:鉴权|认证|身份验证)失败|認証(?:に失敗|エラー)
  filesystem ! the disk: \bread-only file ?system|\binput\/output error|\bdisk image is malformed|\bdisk i\/o error|\bunable to open database file|\bstale file handle
  server ! the words of a status: ^(?:server|backend|application|system) error\W*$|^temporarily unavailable\W*$|\binvalid json (?:response body|received from)\b|\binvalid character '<' looking|\bread[- ]only replica|\bloading the dataset|\bbad gateway\b|\binternal server error\b|\bno healthy upstream\b|(?:^|[:.] ?)(?:the |our |this )?(?:service|server|model|engine|api|system) (?:is )?(?:currently |temporarily )?(?:unavailable|overloaded)(?! (?:in|at|for)\b)
  server a server is broken: ${of(PEER, `unavailable(?! (?:in|at|on|to|for(?! url))\\b)|unreachable|offline|crash|being (?:re|up|mig)\\w+|returned an? (?:empty|malformed) |down\\b(?! with)|starting up|shutting down|in recovery|gone away|has been closed|had an error|${NOT}(?:respond|reachable|available(?! (?:in|at|on|to|for)\\b)|healthy|initialized|ready)`)}
    |\bcrashed\b|\b(?:server|service|system|api) is (?:too |currently )?busy\b|\bis (?:currently|still) loading\b|\bbreaker (?:\S+ )?is open\b|\bexited with (?:code|error|signal)|\bno (?:\w+ )?(?:service|server|worker|node|backend|host|instance)s? available(?! (?:in|at|to|for (?:this|your|the))\b)|\bsegmentation fault|\bkilled by signal|\b(?:unexpected|bad|invalid|malformed|empty) (?:response|reply) (?:was received )?from\b|\bserver error\b(?! in)|(?<!\b(?:process|job|task|workflow|script|session|game|timer|account|instance|machine|campaign|experiment|${THEY}) (?:is )?)\bnot (?:yet )?(?:running|connected)\b(?! to your)
    |\binternal error\b|\bunexpected (?:\w+ )?error\b(?! (?:in|at|near)\b|:)|\boverloaded|(?<!\b(?:vehicle|car|room)\b[^.\n]{0,24})\bmaintenance\b|\bdeadlock (?:det|found)|\bterminating connection
    |"(?:<(?:!doctype|html|head|body|\?xml)|internal s|bad g|service u|gateway|upstream|no healthy|too many r)[^"\n]{0,40}"(?:\.{3})? is not valid JSON|\b(?:target|session) (?:closed|terminated)\W*$|\bexceeded \d+ redirects|\bon our (?:side|end)\b|\bsomething went wrong
    |(?:dienst|server) (?:ist )?(?:\w+ )?nicht (?:erreichbar|verfügbar)|interner serverfehler|service (?:est )?(?:\S+ )?indisponible|erreur interne|servicio no (?:está )?disponible|error interno|服务(?:器)?(?:暂时|暂|目前)?(?:不可用|异常|内部错误|错误)|(?:系统|服务器)(?:内部)?(?:错误|异常|繁忙)|サーバーエラー|сервис временно недоступен|ошибка сервера`);

/** The tool works, and rejects this request: a rule, a limit, or a state of the object. */
export const REFUSED = r`\b(?:allowed|permitted|permission|authori[sz]ed|must|only|should|(?:cannot|can't) be|may not|insufficient|enough|maximum|minimum|at (?:least|most)|too|denied|refused|rejected|declined|expired|closed|busy|locked|taken|booked|reserved|occupied|withdrawn|halted|frozen|paid|finished|late|ineligible|overdue|pending|full|blocked|protected|disabled|(?:not |un)available|in (?:use|the past)|duplicate|different|first|before|until|unless|invalid|incorrect|wrong|malformed|ambiguous|unsupported|not supported|forbidden|archived|not (?:in|an?)|sold out|out of(?! order)|syntax error|parse|constraint|by zero)\b|already|exceed|limit|conflict|violat|polic|match|belong`;

/** Words about the requested object: missing, existing, wrong or forbidden. The first match counts; the first, a bug, has no meaning. */
export const ANSWERS =
  hints(r`unknown a bug in the tool: \bcannot (?:read|set) propert|\bis not (?:a function|a constructor|iterable|valid JSON)|\bobject has no attribute|'NoneType'
    |\bundefined is not|\bmaximum call stack|\bnil pointer|\bin JSON at position|\bline \d+ column \d+ \(char \d+\)|\bJSON input\b
  invalid_input the text is about the arguments: \b(?:invalid|malformed|unsupported|unrecognized|illegal|incorrect|incompatible|required(?! env)|expect(?:ed|ing)|out of (?:range|bounds))\b
    |\bmust (?:be|have|not|start|contain)\b
  tool_error the text is about what was asked for: n't\b|\b(?:not?|none|nothing|never|cannot|unknown|missing|please|ended|cancell?ed|empty|conditional|circular|unclosed|needed|requires?|more than|failed: zero results|in your|unprocessable|domain error|access to|unable to (?:parse|find|locate|identify|determine)|timed out)\b
    |${REFUSED}
  server it may work later: \b(?:try again|retry) (?:later|in a (?:few|moment|while|minute))\b
  tool_error the text is about something other than a machine: ^(?![^]*\b(?:${LINE}|${PEER})s?\b)[^]*\b(?:is|are|was|were|has|have|had|would|needs?|can|may|give)\b`);

/** Whether a word may be what a text about an outage is made of. */
export const isOutageWord = (word: string): boolean =>
  WORD.test(word) || OUTAGES.some(({ pattern }) => pattern.test(word));
const WORD = new RegExp(
  `^(?:${LINE}|${PEER}|${PROOF}|error|failed|failure|unavailable|internal|limit|quota|status|request|response)s?$`,
);
