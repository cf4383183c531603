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
    tool_error: Row 14 UNAVAILABLE
    rate_limit: app.RateLimitError: x
    rate_limit: TooManyRequestsException
    rate_limit: An error occurred (Throttling) when calling x
    rate_limit: (SlowDown) when calling the operation
    rate_limit: ProvisionedThroughputExceededException: x
    resource: OutOfMemoryError: heap
    resource: QuotaExceededError: x
    resource: LimitExceededException: x
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
    rate_limit: rate limit of 40 requests reached
    rate_limit: Rate exceeded
    rate_limit: please retry in 20s
    rate_limit: try again in 5 s
    rate_limit: the call was throttled
    rate_limit: Exceeded 2 calls per second. Reduce request rates
    tool_error: The interest rate limit is not known
    invalid_input: rate limit parameter must be an integer, not a string
    resource: Out of memory
    resource: Cannot allocate memory
    resource: concurrent sessions limit reached
    resource: no space left on device
    resource: remaining connection slots are reserved
    resource: max number of clients reached
    resource: disk is full
    resource: too many open files
    resource: too many connections
    resource: resource exhausted
    resource: resources have been exhausted
    resource: monthly quota exceeded on your plan
    resource: insufficient_quota
    tool_error: Your plan has a monthly quota of 5
    resource: billing_not_active
    resource: your subscription: credits are used up
    resource: Failed to launch chromium
    resource: cannot find Chrome
    resource: session not created
    resource: libGL.so.1: cannot open shared object file: No such file or directory
    resource: Payment required to access this resource
    resource: error while loading shared libraries: libnss3.so
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
    tool_error: The hold timed out
    tool_error: Your session timed out, please log in
    network: could not resolve host: x
    network: Name or service not known
    network: dial: no such host
    network: NXDOMAIN
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
    tool_error: The process is not running
    tool_error: the store is unavailable in Graz`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});

describe('O2: refusals, answers and bugs', () => {
  it.each(
    rows(`
    invalid_input: Your card error: expired
    invalid_input: expired card
    invalid_input: incorrect cvc
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
    invalid_input: malformed date
    invalid_input: quantity must be positive
    tool_error: it doesn't exist
    tool_error: duplicate entry
    tool_error: the channel is archived
    tool_error: at most 4 seats
    tool_error: division by zero
    tool_error: the bill is overdue
    server: try again later
    unknown: the server does this
    unknown: boom`),
  )('O2: %s: %s', (wanted, text) => expect(category(text)).toBe(wanted));
});
