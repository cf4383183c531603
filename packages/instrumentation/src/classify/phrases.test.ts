import { describe, expect, it } from 'vitest';
import { classifyError } from '../test-support/classify/verdicts.ts';

const category = (text: string): string => classifyError(new Error(text), { unixMs: 0 }).category;

/** Rows such as 'timeout: Request timed out'. */
const rows = (table: string): readonly (readonly [string, string])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => /^\s*(\w+): (.*)$/.exec(line)?.slice(1) as [string, string]);

describe('O2: statuses in a text', () => {
  it.each(
    rows(`
    server: HTTP 503
    server: HTTP/1.1 503
    server: HTTP/2 503 from the gateway
    server: HTTPS error 503
    server: HTTP status code: 503
    server: HTTP-error=503
    server: HTTPStatusError 503
    server: HTTP error! status: 503
    server: status code 503
    server: status_code=503
    server: status-code: "503"
    server: "statusCode": 503
    server: 'error': '503'
    server: response code was 503
    server: error code is 500
    server: status code of 503
    server: request to the service returned status 503
    server: https://api.example/v1?q=a status: 503
    server: response with status=(503)
    server: API error 503
    server: api error: 500 internal boom
    unknown: api error: 500 boom
    server: service responded with 503
    server: upstream answered with code 503
    server: search failed with a 503
    server: fetch says 503 giving up
    server: Request failed: 503 bad day
    server: could not load the list (503).
    server: forbidden for now: 503
    server: access failed: 500!
    server: 503
    server: Error: 503
    server: error code: 503
    server: 503 - {"a": 1}
    server: 503 {"a": 1}
    server: received 503 from the peer
    server: got a 503 response
    server: got an 500 when asking
    server: received 502 while reading
    server: Got 503 for x
    server: unexpected response: 503
    server: status 503
    server: Status: 503.
    server: Bad status: 503
    server: Search failed: invalid status 503
    invalid_input: status 404
    unknown: Order status: 503
    unknown: status 503 of the parcel
    unknown: Order 17: status 503
    server: Non-200 response: 503
    server: lookup gave a non-2xx status code (502)
    rate_limit: 429 Error: {"detail":{"error":"Later"}}
    resource: 433 Error: {"detail":{"error":"This request exceeds the pay-as-you-go limit."}}
    invalid_input: 433 Error: {"detail":{"error":"This request exceeds the largest page."}}
    server: unexpected server response code: 503
    server: TransportError(503, 'x')
    server: MyException(503, "x")
    server: 500 Server Error
    server: '503': 'Service Temporarily Unavailable'
    timeout: 504 Gateway Timeout
    timeout: 408 Request Timeout
    server: 501 Not Implemented
    resource: 402 insufficient credits
    invalid_input: 400 Bad Request
    invalid_input: 404 Not Found
    invalid_input: 405 Method Not Allowed
    invalid_input: 409 Conflict
    invalid_input: 410 Gone
    invalid_input: 422 Unprocessable Entity
    invalid_input: 400 Client Error
    invalid_input: 400 validation failed
    permission: 401 Unauthorised
    permission: 403 Forbidden
    permission: 403 Access Denied: the user does not have this right
    permission: 401 bad credentials
    rate_limit: 429 Too Many Requests
    rate_limit: 429 ratelimited`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));

  it.each(
    rows(`
    tool_error: Order 503 not found
    tool_error: Ticket 404 not found
    tool_error: room 404 not found
    tool_error: A-503 not found
    tool_error: $503 not found
    tool_error: Order status code 503 was never used
    tool_error: Flight error code 503 is not known
    tool_error: Search failed: 503 rooms are not free
    tool_error: 503 of them were not sold
    tool_error: HTTP 5031 is not one
    unknown: 1503
    unknown: HTTP 200
    unknown: HTTP 303
    unknown: HTTPX 503x`),
  )('O2: a number that is not a status: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});

describe('O2: codes, gRPC and names of classes in a text', () => {
  it.each(
    rows(`
    network: [Errno 111] Connect call failed ('127.0.0.1', 5432)
    network: Multiple exceptions: [Errno 111] Connect call failed ('::1', 6379, 0, 0), [Errno 111] Connect call failed ('127.0.0.1', 6379)
    network: read ECONNRESET
    network: getaddrinfo EAI_AGAIN api.example
    network: UND_ERR_SOCKET other side
    network: net::ERR_CONNECTION_RESET
    network: NS_ERROR_NET_RESET
    network: SSL_ERROR_SYSCALL
    network: CERT_HAS_EXPIRED
    timeout: SQLITE_BUSY
    resource: code insufficient_quota
    filesystem: spawn npx ENOENT
    unknown: EXAMPLE
    unknown: ERR_MADE_UP
    network: 14 UNAVAILABLE: no peer
    network: Error: 14 UNAVAILABLE: no peer
    network: UNAVAILABLE: io exception
    timeout: DEADLINE_EXCEEDED: late
    permission: UNAUTHENTICATED: no
    timeout: rpc error: code = DeadlineExceeded desc = x
    network: StatusCode.UNAVAILABLE
    network: ConnectError: [unavailable] x
    invalid_input: ConnectError: [not_found] user 42
    tool_error: Row 14 UNAVAILABLE
    rate_limit: app.RateLimitError: x
    rate_limit: TooManyRequestsException
    rate_limit: An error occurred (Throttling) when calling x
    rate_limit: (SlowDown) when calling the operation
    rate_limit: ProvisionedThroughputExceededException: x
    resource: OutOfMemoryError: heap
    resource: QuotaExceededError: x
    resource: LimitExceededException: x
    resource: UsageLimitExceededError: x
    resource: ConcurrentRunLimitExceededError: x
    tool_error: OrderLimitExceededError: x
    resource: ResourceExhaustedError: x
    timeout: ConnectTimeout
    timeout: ReadTimedOut
    timeout: java.net.SocketTimeoutException: x
    timeout: DeadlineExceededError: x
    permission: PermissionDeniedError: x
    permission: AccessDeniedException: x
    permission: AuthenticationError: x
    permission: UnauthorizedError: x
    permission: ForbiddenError: x
    permission: ForbiddenException: x
    unknown: ForbiddenMoveError: x
    permission: NoCredentialsError: x
    permission: ExpiredToken
    permission: TokenExpiredError: x
    permission: RefreshError: x
    permission: UnrecognizedClientException: x
    permission: (InvalidClientTokenId) when calling x
    permission: (SignatureDoesNotMatch) when calling x
    permission: (AuthFailure) when calling x
    permission: OAuthError: x
    permission: JWTExpiredError: x
    network: ConnectError: x
    network: NetworkError: x
    network: SocketException: x
    network: java.net.UnknownHostException: x
    network: NoRouteToHostException: x
    network: socket.gaierror: x
    network: SSLError: x
    network: TLSException: x
    network: HandshakeException: x
    network: ProxyError: x
    network: NameResolutionError: x
    network: MaxRetryError: x
    network: RemoteProtocolError: x
    network: IncompleteReadError: x
    network: BrokenPipeError: x
    network: NoBrokersAvailable
    network: RemoteDisconnected
    network: UnreachableError: x
    network: AutoReconnectError: connection closed
    server: InternalServerError: x
    server: InternalFailureException: x
    server: ServiceUnavailable
    server: ModelUnavailableError: x
    unknown: SeatUnavailableError: x
    server: ServerError: x
    server: OverloadedError: x
    server: BadGatewayError: x
    server: EmptyResponseError: x
    server: InvalidResponseError: x
    server: DeserializationError: x
    server: TargetCloseError: x
    server: WebDriverException: x
    unknown: CustomError: x`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});

describe('O2: words of an outage, and the same words about something else', () => {
  it.each(
    rows(`
    rate_limit: Rate limit exceeded
    rate_limit: ratelimit hit
    rate_limit: you are over your limit of calls; over the limit
    rate_limit: too many calls
    rate_limit: requests come too quickly
    rate_limit: Your request has been blocked due to excessive requests.
    rate_limit: Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100.
    rate_limit: rate limit of 40 requests reached
    rate_limit: Rate exceeded
    rate_limit: please retry in 20s
    rate_limit: try again in 5 s
    rate_limit: the call was throttled
    rate_limit: Exceeded 2 calls per second. Reduce request rates
    rate_limit: You have reached your secondly limit
    tool_error: The interest rate limit is not known
    invalid_input: rate limit parameter must be an integer, not a string
    resource: Out of memory
    resource: Cannot allocate memory
    resource: concurrent sessions limit reached
    resource: no space left on device
    resource: remaining connection slots are reserved
    resource: max number of clients reached
    resource: disk is full
    resource: Code: 241. DB::Exception: Memory limit (total) exceeded: would use 20.00 GiB
    tool_error: Code: 241. DB::Exception: Memory limit (for query) exceeded: would use 20.00 GiB
    resource: too many open files
    resource: too many connections
    resource: resource exhausted
    resource: resources have been exhausted
    resource: monthly quota exceeded on your plan
    resource: insufficient_quota
    resource: You have exceeded your GPU quota
    resource: Maximum credits exceeded
    resource: command not allowed when used memory > 'maxmemory'
    tool_error: Your plan has a monthly quota of 5
    resource: billing_not_active
    resource: your subscription: credits are used up
    resource: Failed to launch chromium
    resource: cannot find Chrome
    resource: session not created
    resource: libGL.so.1: cannot open shared object file: No such file or directory
    resource: Payment required to access this resource
    resource: error while loading shared libraries: libnss3.so: cannot open shared object file
    resource: Cannot find module 'x'
    resource: No module named 'requests'
    resource: sh: foo: command not found
    resource: browser is already in use
    timeout: the request timed out
    timeout: time out
    timeout: deadline has been exceeded
    timeout: no response from the peer
    timeout: it took too long to respond
    timeout: exceeded 30 s
    timeout: the peer did not respond
    timeout: database is locked
    timeout: that took too long
    timeout: It could not be completed within 30 s
    timeout: execution expired
    tool_error: The hold timed out
    tool_error: Your session timed out, please log in
    network: terminated
    network: TypeError: terminated
    unknown: Lease terminated
    unknown: Employee 17: terminated
    network: Unreachable hosts - your application id may be incorrect.
    network: Host key verification failed.
    permission: fatal: could not read Username for 'https://git.example': terminal prompts disabled
    server: Invalid JSON received from the Stripe API
    network: could not resolve host: x
    network: Name or service not known
    network: dial: no such host
    network: NXDOMAIN
    network: [Errno 11001] getaddrinfo failed
    network: no such host
    network: the hostname could not be found
    network: certificate verify failed
    network: self-signed certificate
    network: unable to verify the first certificate
    network: Connection refused
    network: socket closed
    network: the proxy is unreachable
    network: the websocket was disconnected
    network: cannot connect to the peer
    network: trouble reaching the peer
    network: lost the connection
    network: no connection could be made
    network: dial tcp 10.0.0.1:80: x
    network: fetch failed
    network: Failed to fetch
    network: socket hang up
    network: other side closed
    network: temporary failure in name resolution
    network: no route to host
    network: premature close
    network: upstream connect error
    network: the server closed
    network: broken pipe
    network: read: unexpected EOF
    network: not connected
    network: EOF
    network: EOF occurred in violation of protocol (_ssl.c:1129)
    network: end of file reached
    network: use of closed network connection
    network: peer closed connection without sending the body
    network: Server has closed the connection
    network: Attempted to send a request from a closed client
    network: Cannot operate on a closed database.
    network: Cannot use a pool after calling end on the pool
    network: write after end
    network: Cannot call write after a stream was destroyed
    network: This socket has been ended by the other party
    network: There are no living connections
    network: Client must be connected before running operations
    network: Client was closed and is not queryable
    network: Session closed. Most likely the page has been closed.
    network: no such window: target window already closed
    network: Pool is closed.
    network: redis: client is closed
    network: Channel has been shut down
    network: Channel ended, no reply will be forthcoming
    network: The producer is disconnected
    network: Pending response rejected since connection got disposed
    network: Remote end closed connection without response
    network: anyio.ClosedResourceError
    server: Engine is not yet connected
    server: Server not initialized. Make sure you call connect() first.
    tool_error: Server not initialized. Call open_project() first.
    tool_error: The pool is closed on Mondays
    tool_error: The account of this client is closed
    tool_error: Posts to a closed channel are not possible
    network: An error occurred with our connection to Stripe
    network: failure with the connection to Stripe
    network: The SSL connection could not be established
    network: The Internet connection appears to be offline
    network: the connection to db was lost
    tool_error: The flight connection was not closed
    permission: invalid api key
    permission: the access token has expired
    permission: credentials are missing
    permission: bad api token
    permission: token revoked
    permission: authentication failed
    permission: this requires authentication
    permission: cannot log in
    permission: please re-authenticate
    permission: set the api token
    permission: unable to locate credentials
    permission: not_authed
    permission: missing_scope
    permission: not subscribed to this API
    permission: Please set the SERPER_API_KEY
    permission: You must use an API key
    permission: The security token in the request is expired
    permission: Could not load the default credentials
    permission: cannot find the credentials
    permission: unable to obtain a token
    permission: failed to retrieve a token
    permission: could not refresh the access token
    permission: Request had insufficient authentication scopes
    permission: This app hasn't been granted all required scopes
    permission: Missing or insufficient permissions
    permission: Insufficient privileges
    permission: not authorized to perform this operation
    permission: not authorised to use this API
    permission: not authorized to call this api
    permission: The API has not been used before
    permission: The API is not enabled
    permission: your IP address is not on the list
    permission: your IP was blocked
    permission: your IP has been denied
    permission: 535-5.7.8 Username and Password
    permission: Not authenticated
    permission: Login failed for user 'sa'
    permission: ORA-01017: logon denied
    permission: access denied for user 'x'
    permission: permission denied
    permission: access is denied
    permission: operation not permitted
    permission: no pg_hba.conf entry
    permission: Unauthorized
    permission: Forbidden
    tool_error: permission denied for table x
    tool_error: Unauthorized access to order 4 is not possible
    filesystem: read-only file system
    filesystem: Input/output error
    filesystem: database disk image is malformed
    filesystem: unable to open database file
    filesystem: stale file handle
    server: Bad gateway
    server: Internal Server Error
    server: the service is temporarily unavailable
    server: backend unreachable
    server: the API is down
    server: the database is starting up
    server: server is shutting down
    server: server has gone away
    server: engine had an error
    server: cluster is not available
    server: it crashed
    server: exited with code 1
    server: no server is available; no healthy servers available
    server: Segmentation fault
    server: unexpected response from the peer
    server: Server error
    server: Backend error
    server: Application error
    server: System error
    server: temporarily_unavailable
    server: invalid json response body at x
    server: invalid character '<' looking for beginning of value
    server: You can't write against a read only replica
    server: Redis is loading the dataset
    server: the database system is in recovery mode
    server: The server is too busy
    server: The API is busy
    server: The model is currently loading
    server: the page is still loading
    server: the circuit breaker is open
    server: Runtime exited with error
    server: exited with signal 9
    server: it was killed by signal 9
    server: Session terminated
    server: An invalid response was received from the peer
    server: Unexpected token 'I', "Internal S"... is not valid JSON
    server: Unexpected token 'B', "Bad Gatewa"... is not valid JSON
    server: Unexpected token 'S', "Service Un"... is not valid JSON
    server: Unexpected token 'G', "Gateway Ti"... is not valid JSON
    server: Unexpected token 'u', "upstream c"... is not valid JSON
    server: Unexpected token 'o', "no healthy"... is not valid JSON
    server: Unexpected token 'T', "Too Many R"... is not valid JSON
    server: it is not running
    server: internal error
    server: unexpected error
    server: overloaded
    server: under maintenance
    server: deadlock detected
    server: terminating connection
    server: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
    server: Exceeded 30 redirects.
    server: an error on our side
    server: something went wrong
    tool_error: Room service is not available
    tool_error: The store is not available for pickup
    tool_error: The host is busy
    tool_error: The process is not running
    tool_error: the store is unavailable in Graz`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});

describe('O2: words of an outage about a person, a thing or an object', () => {
  it.each(
    rows(`
    invalid_input: Invalid issue key
    tool_error: Missing translation key
    tool_error: No key found
    permission: No access key found
    permission: Invalid subscription key
    tool_error: Token not found
    permission: The token was not found
    permission: No token found
    tool_error: No tokens found for this wallet
    invalid_input: Invalid token address
    permission: Invalid token
    tool_error: Amount is over daily limit
    rate_limit: over query limit
    rate_limit: You are over the limit
    tool_error: Maximum number of sessions reached
    resource: maximum number of concurrent sessions reached
    tool_error: The submission deadline has been exceeded
    timeout: deadline exceeded
    tool_error: The device is not responding
    tool_error: The customer has not responded to the quote yet
    timeout: the process is not responding
    tool_error: Manager has not responded
    tool_error: No response from the supplier yet.
    timeout: No response from the user service
    timeout: No response from upstream
    unknown: Unable to connect to the device
    network: Unable to connect to the server
    tool_error: Player is not connected
    tool_error: The quote has timed out.
    timeout: The query has timed out
    tool_error: The connection request was refused.
    tool_error: No connection could be found.
    network: No connection could be made because the target machine actively refused it.
    unknown: Unable to establish eligibility.
    network: Could not establish trust relationship for the SSL/TLS secure channel
    unknown: The stream is currently offline
    network: the proxy is offline
    tool_error: The gift certificate has expired
    tool_error: The certificate is not ready yet
    network: the certificate has expired
    network: the certificate is not yet valid
    tool_error: Could not reach the customer
    network: Could not reach the customer database
    network: Failed to establish a new connection
    tool_error: Cannot start sprint: another sprint is active
    resource: Cannot start the session
    tool_error: The contact is not subscribed to this list
    permission: You are not subscribed to this API
    tool_error: No shipping service available for this destination
    server: nats: no servers available for connection
    tool_error: The virtual machine is not running
    server: the daemon is not running
    tool_error: The vehicle is under maintenance until Friday
    server: we are under maintenance
    tool_error: You have exceeded your leave quota
    tool_error: Leave quota exceeded
    resource: Quota exceeded`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});

describe('O2: the usual wordings of outages in other languages', () => {
  it.each(
    rows(`
    rate_limit: Zu viele Anfragen
    rate_limit: Zu viele Anforderungen
    rate_limit: Trop de requêtes
    rate_limit: Demasiadas solicitudes
    rate_limit: Demasiadas peticiones
    rate_limit: 请求过于频繁
    rate_limit: 访问太频繁
    rate_limit: 调用次数过多
    rate_limit: 操作频繁
    rate_limit: 已触发限流
    rate_limit: 超过了速率限制
    rate_limit: 超出频率限制
    rate_limit: リクエストが多すぎます
    rate_limit: Слишком много запросов
    resource: Das Kontingent ist erschöpft
    resource: Kontingent überschritten
    resource: Kontingent aufgebraucht
    resource: 额度不足
    resource: 配额已用完
    resource: 资源包已耗尽
    resource: 调用次数超限
    timeout: Zeitüberschreitung der Anforderung
    timeout: Délai d'attente dépassé
    timeout: Se agotó el tiempo de espera
    timeout: 请求超时
    timeout: 连接超时
    timeout: 响应超时
    timeout: 操作超时
    timeout: 读取超时
    timeout: 调用超时
    timeout: 超时错误
    timeout: タイムアウトしました
    timeout: Время ожидания истекло
    network: Verbindung zum Server verweigert
    network: Verbindung abgelehnt
    network: Die Verbindung wurde abgebrochen
    network: Verbindung fehlgeschlagen
    network: Connexion refusée par le serveur
    network: Connexion interrompue
    network: Connexion perdue
    network: Conexión rechazada
    network: Conexión perdida
    network: 无法连接到主机
    network: 连接失败
    network: 连接错误
    network: 连接异常
    network: 连接被拒绝
    network: 连接被重置
    network: 连接断开
    network: 网络错误
    network: 网络异常
    network: サーバーに接続できませんでした
    network: 接続に失敗しました
    network: 接続が拒否されました
    network: 接続エラー
    network: Ошибка сети
    network: Ошибка соединения
    permission: API-Schlüssel ungültig
    permission: API-Key abgelaufen
    permission: API密钥无效
    permission: API key 错误
    permission: API key 过期
    permission: APIキーが無効です
    permission: 令牌已过期
    permission: 密钥错误
    permission: 凭证已失效
    permission: 令牌无效
    permission: Clé API invalide
    permission: Clave de API inválida
    permission: 鉴权失败
    permission: 认证失败
    permission: 身份验证失败
    permission: 認証に失敗しました
    permission: 認証エラー
    server: Der Dienst ist derzeit nicht erreichbar
    server: Server nicht verfügbar
    server: Interner Serverfehler
    server: Le service est momentanément indisponible
    server: Erreur interne
    server: Servicio no disponible
    server: Servicio no está disponible
    server: Error interno
    server: 服务暂时不可用
    server: 服务异常
    server: 服务器内部错误
    server: 服务错误
    server: 系统繁忙
    server: 系统异常
    server: サーバーエラー
    server: Сервис временно недоступен
    server: Внутренняя ошибка сервера
    unknown: Zugverbindung fehlgeschlagen
    unknown: Der Dienst beginnt um 8 Uhr
    unknown: 服务时间错误`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});

describe('O2: refusals, answers and bugs', () => {
  it.each(
    rows(`
    invalid_input: Your card error: expired
    invalid_input: expired card
    invalid_input: incorrect cvc
    invalid_input: Transaction declined: daily limit of the account exceeded
    invalid_input: The transfer was rejected: the quota of the plan is exceeded
    invalid_input: Payment refused: monthly limit exceeded
    invalid_input: (ValidationException) when calling the Query operation
    invalid_input: invalid zip
    server: Output validation error: 'x' is a required property
    server: Structured content does not match the tool's output schema
    server: Tool find has an output schema but gave none
    denied: The call was denied by the user
    denied: rejected by policy
    denied: declined by a human operator
    denied: User rejected the tool call
    denied: The user doesn't want to proceed with this tool use
    invalid_input: 2 validation errors for find
    invalid_input: validation failed
    invalid_input: unavailable tool 'x'
    invalid_input: invalid tool input
    invalid_input: invalid arguments
    invalid_input: f() got an unexpected keyword argument 'x'
    invalid_input: invalid value for field x
    invalid_input: [{"code": "too_small"}]
    invalid_input: missing 1 required argument
    invalid_input: 'x' is a required property
    invalid_input: expected string, received number
    invalid_input: invalid type: map
    invalid_input: x must be a string
    tool_error: Call connect() first
    tool_error: use select_project first
    tool_error: No rows match; the connection closed
    tool_error: Error: 0 results because of a timeout
    tool_error: could not find an exact match: connection refused
    tool_error: relation "timeouts" does not exist
    tool_error: syntax error at or near "timeout"
    tool_error: it violates not-null constraint of timeouts
    tool_error: outside of the allowed directory
    tool_error: locator.click: Timeout 5000ms exceeded
    tool_error: waiting for selector: timed out
    cancelled: AbortError: x
    cancelled: This operation was aborted
    cancelled: user aborted
    cancelled: request was cancelled
    cancelled: canceled
    unknown: Cannot read properties of undefined
    unknown: x is not a function
    unknown: 'NoneType' object has no attribute 'y'
    unknown: undefined is not an object
    unknown: panic: invalid memory address or nil pointer dereference
    unknown: Maximum call stack size exceeded
    unknown: Unexpected end of JSON input
    unknown: 'str' object has no attribute 'y'
    unknown: 'NoneType' object is not there
    unknown: Unexpected token < in JSON at position 0
    unknown: Expecting value: line 1 column 1 (char 0)
    invalid_input: malformed date
    invalid_input: quantity must be positive
    tool_error: it doesn't exist
    tool_error: duplicate entry
    tool_error: Item out of stock
    tool_error: This is sold out
    tool_error: the channel is archived
    tool_error: at most 4 seats
    tool_error: division by zero
    tool_error: the bill is overdue
    server: try again later
    unknown: the server does this
    unknown: boom`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});
