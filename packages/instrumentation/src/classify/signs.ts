import { byPattern, grpcStatus, type Meaning, namedCode, statusMeaning } from '@breakerbox/core/internal';

const CODE =
  /\b(spawn \S{1,200} ENOENT|E[A-Z][A-Z0-9]{1,14}|EAI_[A-Z]{2,12}|(?:UND_ERR|ERR|SQLITE|NS_ERROR|SSL_ERROR)_[A-Z0-9_]{2,40}|CERT_HAS_EXPIRED|insufficient_quota|REQUEST_DENIED|OVER_(?:QUERY|DAILY)_LIMIT)\b/g;
const codeIn = (text: string): Meaning | undefined => {
  const codes = text.match(CODE)?.map((code) => namedCode(code.replace(/ .*/, '')));
  return codes?.find((found) => found !== undefined && found.vague !== true);
};

/** gRPC only in the forms of its libraries, because row 14 of a seat map can be unavailable too: Node; Connect; Java; Go; Python. */
const GRPC =
  /(?:^|: )\d{1,2} ([A-Z_]{7,20}):|\bConnectError: \[([a-z_]{7,20})\]|\b(UNAVAILABLE|DEADLINE_EXCEEDED|UNAUTHENTICATED): |\b(?:rpc error: code = |StatusCode\.)([A-Za-z_]{7,20})\b/;
const grpcIn = (text: string): Meaning | undefined => grpcStatus(`${GRPC.exec(text)?.slice(1).find(Boolean)}`);

/** A number is a status if its own reason, its label or the end of a failure shows it. 'Order 503 not found' is not one. */
const STATUSES: readonly RegExp[] =
  String.raw`(?<![\w$-]|\b(?:order|ticket|room|item|user|row) )§[ :'"]{1,3}(?:bad request|unauthori[sz]ed|payment required|forbidden|access denied|not found|method not|request time|conflict|gone|unprocessable|too many requests|unavailable for|internal server|not impl|bad gateway|service (?:temporarily )?unav|backend fetch|proxy error|authorization required|gateway time|client error|server error|bad credentials|web server|connection timed|origin |a timeout occ|ssl handshake|invalid ssl|railgun|<(?:none|unknown)|validation failed|insufficient|ratelimit)
\bHTTPS?(?:/\d(?:\.\d)?)?(?:[ -]?(?:error|status|response|code|statuserror)!?)*[ :=(#]{1,3}§\b
(?<!\b(?:order|flight|shipment|delivery|payment) )\b(?:status|error|response)[ _-]?code["']?(?: was| is| of)?[ :=("']{1,4}§\b
["'](?:status|code|statusCode|error)["']\s?:\s?["']?§\b
\b(?:received|with|of|returned|request|response|https?:\S{1,200}(?!\S))[^\n\d]{0,60}?\bstatus(?: was| is| of)?[ :=(]{1,3}§\b
\b(?:api|server|service|response|upstream|request|fetch|search)\b[^\n\d]{0,40}?\b(?:error|failed|respond(?:s|ed)|answered|returned|says|with)(?: with)?(?: code)?[ :=#(]{1,3}(?:an? )?§\b(?! (?!bad|giving|internal|error)\w)
\b(?:fail(?:ed|ure)?|error|forbidden|unable|could not|cannot|access)\b[^\n]{0,200}(?:: |\()§(?=\)?[.!]?\s*$)
^\s*(?:error)?:? ?(?:error code: )?§(?: (?:error: |- )?\{|, message=|\s*$)
\b(?:received|got)(?: an?)? § (?:from|response|when|while|for)
\bunexpected (?:server )?response(?: status| code)*: §
(?:^|\b(?:fail\w*|error|exception)\b[^:\n]{0,80}: )(?:(?:bad|unexpected|invalid) )?status[ :=]{1,3}§[^\w\n]*$
\bnon-2(?:00|xx) (?:\w+ ){0,2}(?:status|response|code)[ :=(]{1,3}§\b
(?:Error|Exception)\(§,`
    .split('\n')
    .map((source) => new RegExp(source.replace('§', '([45]\\d\\d)'), 'i'));
export const statusIn = (text: string): Meaning | undefined =>
  statusMeaning(Number(STATUSES.map((pattern) => pattern.exec(text)?.[1]).find((status) => status !== undefined)));

/** The category for words in the name of a class, in any language: `RateLimitError`, `httpx.ConnectTimeout`, `SocketException`. */
const categoryOf = byPattern(
  ['rate_limit', 'RateLimit|TooManyRequests|Throttl|SlowDown|RequestLimitExceeded|ThroughputExceeded'],
  [
    'resource',
    'OutOfMemory|^MemoryError|Quota|ResourceExhausted|(?:^|Usage|Request|Account|Api|API|Plan|Subscription|Concurrent\\w*)LimitExceeded',
  ],
  ['timeout', 'Time[dD]?[oO]ut|DeadlineExceeded'],
  [
    'permission',
    'Permission|AccessDenied|Authenticat|Unauthori[sz]ed|Forbidden(?:$|Err|Exc)|Credential|Token(?:Expired|Provider)|ExpiredToken|^(?:InvalidToken|Refresh)Error|UnrecognizedClient|InvalidClientToken|InvalidAccessKey|SignatureDoesNotMatch|AuthFailure|InsufficientScope|OAuth|JWTExpired|LoadAPIKey',
  ],
  [
    'network',
    '[Cc]onnect|Network|Socket|UnknownHost|RouteToHost|gaierror|SSL|TLS|Handshake|Proxy|NameResolution|MaxRetr|RemoteProtocol|IncompleteRead|BrokenPipe|Broker|(?:Closed|Broken)Resource|LivingConn|Unreachable|RootNodes|ServerSelection|ClusterAll|Client(?:Closed|Offline)|HTTPParser',
  ],
  [
    'server',
    'Internal(?:Server|Error|Failure)|(?:^|Service|Server|Backend|Temporarily|Node|Host|Cluster|Model|Api|API|Database|Resource)Unavailable|ServerError|Overloaded|BadGateway|EmptyResponse|InvalidResponse|Deserialization|TargetClose|WebDriverEx',
  ],
);

/** The outage that the name of a class means; undefined for other classes. */
export const classMeaning = (name: string): Meaning | undefined => {
  const category = categoryOf(name);
  return category && { category, sign: `class ${name}`, code: 'class' };
};

const CLASS =
  /\b([A-Z][A-Za-z]{2,49}(?:Error|Exception|Time[dD]?[oO]ut|Unavailable|Disconnected|Available)|Throttling|ExpiredToken|gaierror|(?<=\()[A-Z][A-Za-z]{5,49}(?=\) when calling))\b/g;
const classIn = (text: string): Meaning | undefined =>
  [...text.matchAll(CLASS)].map(([name]) => classMeaning(name)).find((found) => found !== undefined);

/** The signs of libraries in a text, the most telling first: gRPC, error codes, HTTP statuses, names of classes. */
export const signsIn = (text: string): readonly Meaning[] =>
  [grpcIn(text), codeIn(text), statusIn(text), classIn(text)].filter((found) => found !== undefined);

/** A line that is only the message of a library: of Node and fetch; of HTTP clients; of Python; of Go, gRPC, curl and Chrome. */
const LINE = new RegExp(
  String.raw`(?:(?:connect|read|write|getaddrinfo|query\w{1,8}) )?E(?:CONN\w+|\w*TIMEDOUT|NOTFOUND|AI_AGAIN|\w+UNREACH|PIPE)\b(?! means|:).{0,150}
(?:fetch failed|Failed to fetch|Network Error|socket hang up|other side closed|Premature close)
(?:[Rr]equest(?: to)?|Fetch|GET|POST|API)(?: \S{1,120})? failed(?: with status(?: code)?:? [45]\d\d(?: [\w -]{1,40})?|, reason: .{1,150})
(?:timeout of \d+ ?ms exceeded|Timeout awaiting '\w+' for \d+ms|Response code [45]\d\d \([\w -]+\))
HTTP [Ee]rror!?:? ?\(?(?:[Ss]tatus:? ?)?(?:code:? ?)?[45]\d\d\)?
(?:HTTP (?:[Ee]rror )?)?[45]\d\d[ :-]{1,3}[A-Z][A-Za-z-]+(?: [A-Z][A-Za-z-]+){0,3}(?:: .{1,150})?
(?:Client|Server) error '[45]\d\d [\w -]+' for url '\S+'
\[Errno -?\d{1,5}\] .{1,100}
<urlopen error .{1,150}>
(?:HTTPS?ConnectionPool|\('Connection aborted\.', |[A-Z]\w{2,40}(?:Error|Exception|Timeout)\().{1,250}\)
(?:All connection attempts failed|The read operation timed out)
(?:dial (?:tcp|udp|unix) |[A-Z][a-z]+ "https?:\S{1,200}": |rpc error: code = |\d{1,2} [A-Z_]{7,20}: ).{1,200}
context deadline exceeded
(?:curl: \(\d{1,3}\)|cURL error \d{1,3}:) .{1,200}
(?:\w{1,12}\.\w{1,20}: )?net::ERR_[A-Z_]{4,40}(?: at \S{1,200})?`
    .split('\n')
    .map((source) => `^(?:${source})[.!]?(?:\n|$)`)
    .join('|'),
);
/** Whether the first line of a text is only the message of a library. */
export const isLibraryLine = (text: string): boolean => LINE.test(text);
