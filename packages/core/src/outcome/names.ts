import type { ErrorCategory } from './taxonomy.ts';
import { read, readItems, readNames, readText } from './untrusted.ts';

/** `TimeoutError` of an abort signal, `APIConnectionTimeoutError`, `ConnectTimeoutError`, `ReadTimeout`, … */
const TIMEOUT = /(?:Time[oO]ut|TimedOut)(?:Error|Exception)?$/;

const CANCELLED: ReadonlySet<string> = new Set(
  'AbortError APIUserAbortError CanceledError CancelledError CancelError AbortException RequestAbortedError'.split(' '),
);

/** Classes that say more than their HTTP status does: AWS answers 400 to a throttled call. */
const NAMES: Readonly<Partial<Record<ErrorCategory, string>>> = {
  network: `APIConnectionError ConnectionError NetworkError SocketError HTTPParserError NoLivingConnectionsError
    MaxRetriesPerRequestError ClusterAllFailedError SocketClosedUnexpectedlyError ClientClosedError ClientOfflineError
    DisconnectsClientError RootNodesUnavailableError ReconnectStrategyError KafkaJSConnectionError
    KafkaJSBrokerNotFound`,
  rate_limit: `RateLimitError TooManyRequestsError TooManyRequestsException Throttling ThrottlingException
    ThrottledException RequestLimitExceeded SlowDown ProvisionedThroughputExceededException`,
  permission: `UnauthorizedError ForbiddenError AuthenticationError PermissionDeniedError AccessDenied AccessDeniedError
    AccessDeniedException UnauthorizedException ExpiredTokenException UnrecognizedClientException InvalidTokenError
    InsufficientScopeError OAuthError AI_LoadAPIKeyError CredentialsProviderError TokenProviderError
    TokenExpiredError JWTExpired`,
  resource: 'ServiceQuotaExceededException LimitExceededException InsufficientQuotaError',
  server: `TemporarilyUnavailableError AI_EmptyResponseBodyError AI_InvalidResponseDataError DeserializationError
    TargetCloseError`,
};

const BY_NAME: ReadonlyMap<string, ErrorCategory> = new Map(
  Object.entries(NAMES).flatMap(([category, names]) =>
    names.split(/\s+/).map((name): [string, ErrorCategory] => [name, category as ErrorCategory]),
  ),
);

/** Arguments that a schema refused: zod, valibot, yup, joi, ajv, AWS, AI SDK, LangChain. */
const VALIDATION: ReadonlySet<string> = new Set(
  `ZodError $ZodError ValiError ValidationError ValidationException SchemaError AI_InvalidToolInputError
    AI_NoSuchToolError AI_TypeValidationError AI_InvalidArgumentError ToolInputParsingException`.split(/\s+/),
);

/** Whether an error is a time-out or an abort, by its name or, where that is lost, by its DOMException code. */
export function stopKind(error: unknown): 'timeout' | 'cancelled' | undefined {
  const names = readNames(error);
  if (names.some((name) => TIMEOUT.test(name))) return 'timeout';
  if (names.some((name) => CANCELLED.has(name))) return 'cancelled';
  if (!names.includes('DOMException')) return undefined;
  const code = read(error, 'code');
  if (code === 23) return 'timeout';
  return code === 20 ? 'cancelled' : undefined;
}

/** What the class of an error says, where it says something. */
export function nameCategory(error: unknown): ErrorCategory | undefined {
  for (const name of readNames(error)) {
    const category = BY_NAME.get(name);
    if (category) return category;
  }
  return undefined;
}

/** Whether a schema refused something: by class, by Standard Schema's `issues`, or by ajv's `errors`. */
export function isValidationError(error: unknown): boolean {
  if (readNames(error).some((name) => VALIDATION.has(name))) return true;
  const [issue] = readItems(read(error, 'issues'), 1);
  if (readText(issue, 'message') !== undefined) return true;
  const [violation] = readItems(read(error, 'errors'), 1);
  return readText(violation, 'keyword') !== undefined && readText(violation, 'schemaPath') !== undefined;
}

/** What fetch's `TypeError` says in Node, Chromium, Firefox and Safari, and undici's when an answer breaks off. */
const FETCH_FAILED =
  /^(?:fetch failed|Failed to fetch|Load failed|NetworkError when attempting to .{1,20}|network error|terminated)$/;
/** Causes by which fetch refuses a URL before it has tried anything. */
const FETCH_REFUSED = /^(?:unknown scheme|bad port|invalid method|URL scheme .{0,40} is not supported)/i;

/** Whether an error is fetch's `TypeError`, and what it stands for. A `cause` with a code says it better. */
export function fetchCategory(error: unknown): ErrorCategory | undefined {
  if (!readNames(error).includes('TypeError') || !FETCH_FAILED.test(readText(error, 'message', 100) ?? '')) {
    return undefined;
  }
  return FETCH_REFUSED.test(readText(read(error, 'cause'), 'message', 100) ?? '') ? 'invalid_input' : 'network';
}
