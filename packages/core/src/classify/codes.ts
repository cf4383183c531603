import { isObject, read, readNames, readText } from '../safely.ts';
import type { ErrorCategory } from './taxonomy.ts';

/** The meaning of a code. */
export interface Meaning {
  readonly category: ErrorCategory;
  /** The evidence, such as `code ECONNREFUSED`. */
  readonly sign: string;
  /** The code has several meanings: if the text is more specific, the text decides. */
  readonly vague?: boolean;
  /** The code, with a prefix such as `http:503` and `rpc:-32000`; `class` and `signal` where those are the evidence. Default: words. */
  readonly code?: string;
  /** The failure is about one host (C14): no such name, a refused connection, or `other`: a bad certificate, a status such as 404. */
  readonly host?: 'missing' | 'refused' | 'other';
  /** The status says that the peer works, and cannot do this request (C14). */
  readonly answered?: boolean;
}

/** Known codes by category. Codes of SQLSTATE (its class, or all of it), Redis, MongoDB, gRPC, JSON-RPC and HTTP have a prefix. */
const NAMES = {
  network: `EPIPE ENOTCONN ESHUTDOWN EPROTO ENODATA ESERVFAIL EREFUSED EBADRESP EADDRNOTAVAIL ENOTFOUND ERR_NETWORK NOT_CONNECTED SEND_FAILED
    ERR_STREAM_PREMATURE_CLOSE UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED ConnectionRefused ConnectionClosed FailedToOpenSocket
    CONNECTION_CLOSED HANDSHAKE_SSL_ERROR HANDSHAKE_NO_SSL_SUPPORT sql:08 mongo:6,7,9001 grpc:UNAVAILABLE,14 rpc:-32000`,
  timeout: `ETIME ETIMEOUT SQLITE_BUSY SQLITE_LOCKED errcode:5,6 sql:25P03,25P04,55P03,57014 mongo:24,50,89,202,262 grpc:DEADLINE_EXCEEDED,4 rpc:-32001 http:408,504,522,524`,
  permission: `EACCES EPERM ERR_ACCESS_DENIED EAUTH SQLITE_PERM SQLITE_READONLY SQLITE_AUTH errcode:3,8,23 ER_HOST_IS_BLOCKED sql:28 mongo:13,18,8000
    redis:NOAUTH,WRONGPASS,NOPERM,DENIED,AUTH,Client,operation,invalid grpc:PERMISSION_DENIED,7,UNAUTHENTICATED,16 rpc:-32042 REQUEST_DENIED http:401,403,407`,
  rate_limit: `OVER_QUERY_LIMIT http:429`,
  resource: `ENOSPC EDQUOT EMFILE ENFILE ENOMEM ENOBUFS ERR_WORKER_OUT_OF_MEMORY insufficient_quota SQLITE_NOMEM SQLITE_FULL errcode:7,13 ER_CON_COUNT_ERROR
    ER_TOO_MANY_USER_CONNECTIONS ER_USER_LIMIT_REACHED ER_OUT_OF_RESOURCES ER_OUTOFMEMORY ER_DISK_FULL OVER_DAILY_LIMIT sql:53,08004 redis:OOM,max
    mongo:146,292,14031 grpc:RESOURCE_EXHAUSTED,8 http:402`,
  filesystem: `spawn EIO EROFS ENOEXEC ESTALE EBUSY EXDEV ENODEV ENXIO ETXTBSY SQLITE_IOERR SQLITE_CORRUPT SQLITE_CANTOPEN SQLITE_NOTADB errcode:10,11,14,26 sql:58`,
  server: `ERR_BODY_PARSE_FAILURE INVALID_RESULT UNSUPPORTED_RESULT_TYPE CLIENT_HTTP_UNEXPECTED_CONTENT SQLITE_INTERNAL SQLITE_SCHEMA errcode:2,17 sql:40,57,XX
    ER_SERVER_SHUTDOWN ER_NORMAL_SHUTDOWN ER_LOCK_DEADLOCK redis:LOADING,CLUSTERDOWN,MASTERDOWN,READONLY,TRYAGAIN,BUSY,MISCONF,NOREPLICAS
    mongo:1,91,112,133,189,10058,10107,11600,11602,13435,13436 grpc:ABORTED,10,UNIMPLEMENTED,12,INTERNAL,13,DATA_LOSS,15 rpc:-32700 http:5xx`,
  cancelled: `ABORT_ERR ERR_CANCELED UND_ERR_ABORTED ECANCELED ER_QUERY_INTERRUPTED SQLITE_INTERRUPT errcode:9 mongo:11601 grpc:CANCELLED,CANCELED,1 rpc:-32800`,
  invalid_input: `ERR_INVALID_URL ERR_UNESCAPED_CHARACTERS EENVELOPE SQLITE_ERROR SQLITE_TOOBIG SQLITE_CONSTRAINT SQLITE_MISMATCH SQLITE_RANGE
    sql:0A,21,22,23,25006,25P02,26,3D,3F,42,44,54,P0002 mongo:2,9,14,26,52,59,66,121,11000,11001,40324 rpc:-32600,-32601,-32602
    redis:WRONGTYPE,EXECABORT,NOSCRIPT,BUSYGROUP,BUSYKEY,NOGROUP,CROSSSLOT,unknown,wrong,syntax,value,hash,no,index http:404,410,451,4xx
    grpc:INVALID_ARGUMENT,3,NOT_FOUND,5,ALREADY_EXISTS,6,FAILED_PRECONDITION,9,OUT_OF_RANGE,11 errcode:1,18,19,20,25`,
  tool_error: `ENOENT ENOTDIR EISDIR EEXIST ENOTEMPTY ENAMETOOLONG ELOOP EFBIG ERR_ABORTED ER_SIGNAL_EXCEPTION sql:42501,45,P0001 rpc:-32002`,
} as const satisfies { readonly [Category in ErrorCategory]?: string };

const CODES: ReadonlyMap<string, ErrorCategory> = new Map(
  Object.entries(NAMES).flatMap(([category, names]) =>
    names
      .replace(/(\w+:)(\S+)/g, (_, prefix, codes) => prefix + codes.replaceAll(',', ` ${prefix}`))
      .split(/\s+/)
      .map((name): [string, ErrorCategory] => [name, category as ErrorCategory]),
  ),
);

/** The category of the first pattern that a name matches. */
export const byPattern = (
  ...rows: readonly (readonly [ErrorCategory, pattern: string])[]
): ((name: string) => ErrorCategory | undefined) => {
  const patterns = rows.map(([category, pattern]) => ({ category, pattern: new RegExp(pattern) }));
  return (name) => patterns.find(({ pattern }) => pattern.test(name))?.category;
};

/** Families whose members are too many to list, in order. `net::ERR_…` is Chromium's, `NS_ERROR_…` Firefox's; ERR_FS_ is of Node's own checks. */
const familyOf = byPattern(
  ['timeout', '^(?:(?:E|ERR_|UND_ERR_|ER_|PROTOCOL_|NS_ERROR_|REQUEST_)[A-Z_]*TIMED?_?OUT)$'],
  [
    'network',
    String.raw`^(?:(?:ECONN|ENET|EHOST|EAI_|UND_ERR_RES_CONTENT|HPE_|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|PROTOCOL_|SSL_ERROR)\w+)$`,
  ],
  [
    'network',
    String.raw`^(?:ERR_(?:CONNECTION|CERT|SSL|TLS|HTTP2|NAME|INTERNET|ADDRESS|NETWORK|PROXY|TUNNEL|SOCKET|EMPTY|INCOMPLETE)_\w+)$`,
  ],
  [
    'network',
    String.raw`^(?:ERR_(?:HTTP_)?CONTENT_LENGTH_MISMATCH|NS_ERROR_(?:NET|PROXY|CONNECTION|UNKNOWN_HOST|OFFLINE)\w*)$`,
  ],
  ['tool_error', String.raw`^(?:ERR_FS_\w+)$`],
  ['permission', String.raw`^(?:ER_\w{0,20}(?:ACCESS_DENIED_\w+|PASSWORD|LOCKED|NOT_PRIVILEGED))$`],
);
const HOST =
  /^(?:ENOTFOUND|\w*(?:CERT|UNKNOWN_HOST|REFUSED)\w*|(?:ERR_(?:NAME|SSL|TLS)|UNABLE_TO)_\w+|http:(?:40[134]|410|451))$/i;
/** axios uses ECONNABORTED for time-outs and for broken connections. SDK 2 of MCP uses its time-out code for aborts too. */
const VAGUE: ReadonlySet<string> = new Set(['ECONNABORTED', 'REQUEST_TIMEOUT', 'grpc:INTERNAL', 'grpc:13']);

/** The meaning of a code such as `ECONNREFUSED`; undefined if it is unknown. */
export const namedCode = (code: string, sign = `code ${code}`): Meaning | undefined => {
  const name = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code;
  const category = CODES.get(name) ?? familyOf(name);
  return (
    category && { category, sign, code, ...(VAGUE.has(name) && { vague: true }), ...(HOST.test(name) && hostOf(name)) }
  );
};
const hostOf = (name: string): Pick<Meaning, 'host'> => {
  if (/NOTFOUND|NAME_NOT|UNKNOWN_HOST/.test(name)) return { host: 'missing' };
  return { host: name.includes('REFUSED') ? 'refused' : 'other' };
};

/** The meaning of a database driver's code. SQL that the database rejects is the model's own bad argument. */
const databaseCode = (error: unknown, code: unknown): Meaning | undefined => {
  const names = readNames(error);
  const is = (pattern: RegExp) => names.some((name) => pattern.test(name));
  const message = readText(error, 'message', 400) ?? '';
  const errcode = read(error, 'errcode'); // Of node:sqlite; the low byte is the primary code.
  if (code === 'ERR_SQLITE_ERROR')
    return namedCode(`errcode:${typeof errcode === 'number' && errcode & 0xff}`, 'a code of SQLite');
  if (is(/^(?:ReplyError|ErrorReply|SimpleError|BlobError)$/)) {
    // The first word of a reply. After `ERR`, from versions before there were words, the second one.
    const word = /^-?(?:ERR (?:Error running script.{0,300}: -?(?=OOM))?)?(\w*)/.exec(message)?.[1];
    return namedCode(`redis:${word}`, 'a reply of Redis');
  }
  if (is(/^Mongo\w{1,60}Error$/)) {
    const lost = is(/^Mongo(?:Network|NotConnected|(?:Topology|Pool|Client)(?:Closed|Cleared))Error$/);
    return namedCode(`mongo:${code}`, `MongoDB's code ${code}`) ?? (lost ? namedCode('CONNECTION_CLOSED') : undefined);
  }
  const state = readText(error, 'sqlState', 8) ?? readText(error, 'code', 8) ?? '';
  // Five characters are not enough evidence (`EPERM`): they count only beside fields that only a database has.
  const vouched =
    ['severity', 'routine', 'sqlState', 'sqlMessage'].some((key) => typeof read(error, key) === 'string') ||
    is(/^(?:Database|Postgres|PgServer|NeonDb|Postgrest)Error$/) ||
    (read(error, 'hint') !== undefined && read(error, 'details') !== undefined); // supabase
  const mysql = typeof code === 'string' && /^(?:ER|PROTOCOL)_\w{1,60}$/.test(code) ? namedCode(code) : undefined;
  if (mysql || !vouched || state.length !== 5) return mysql;
  // PostgreSQL has one state for a statement that took too long and for one that its client cancelled.
  if (state === '57014' && /\bdue to user request\b/.test(message)) return namedCode('ECANCELED');
  const sign = `SQLSTATE ${state}`;
  return namedCode(`sql:${state}`, sign) ?? namedCode(`sql:${state.slice(0, 2)}`, sign);
};

/** The meaning of a gRPC status, by its name in any spelling (`DEADLINE_EXCEEDED`, Go's `DeadlineExceeded`) or by its number. */
export const grpcStatus = (name: string): Meaning | undefined => {
  const spelled = name.replace(/([a-z])(?=[A-Z])/g, '$1_').toUpperCase();
  return namedCode(`grpc:${spelled}`, `gRPC status ${spelled}`);
};

const isOfSpawn = (error: unknown): boolean =>
  [error, read(error, 'cause')].some((one) => readText(one, 'syscall', 16)?.startsWith('spawn'));

/** The meaning of an error's code: from a database, Node or a client, JSON-RPC or gRPC; never an HTTP status. */
export const errorCode = (error: unknown): Meaning | undefined => {
  const code = read(error, 'code');
  const found = databaseCode(error, code);
  if (found) return found;
  // If the command to start is missing, that says nothing about the object of a call.
  if (code === 'ENOENT' && isOfSpawn(error)) return namedCode('spawn', 'spawn ENOENT');
  if (typeof code === 'string') {
    const firebase = readNames(error).includes('FirebaseError') && /^(?:\w+\/)?([a-z-]+)$/.exec(code)?.[1];
    if (firebase) return grpcStatus(firebase.replaceAll('-', '_'));
    return /^\w{1,64}$/.test(code) ? namedCode(code) : undefined;
  }
  if (typeof code !== 'number') return undefined;
  // Such a small number counts only beside `details` and `metadata`.
  const grpc = read(error, 'details') !== undefined && isObject(read(error, 'metadata')) && grpcStatus(String(code));
  if (grpc) return grpc;
  // MCP servers use -32603 and -32000 to -32099 for any error, their tools' business errors included.
  const sign = `JSON-RPC code ${code}`;
  const rpc = namedCode(`rpc:${code}`, sign);
  const free = code === -32603 || /^-320(?!02|42)\d\d$/.test(String(code));
  return free ? { category: rpc?.category ?? 'tool_error', sign, code: `rpc:${code}`, vague: true } : rpc;
};

/** The meaning of an HTTP status (O2); undefined if it is not an error. */
export const statusMeaning = (status: number): Meaning | undefined => {
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined;
  const code = `http:${status}`;
  const sign = `HTTP status ${status}`;
  const found = namedCode(code, sign) ?? namedCode(`http:${Math.floor(status / 100)}xx`, sign);
  return found && { ...found, code, ...(ANSWERS.has(status) && { answered: true }) };
};
const ANSWERS: ReadonlySet<number> = new Set([404, 409, 410, 422]);

/** Paths to the status in errors of libraries: fetch wrappers, OpenAI, Anthropic; got, AI SDK; axios, ky; AWS. */
const PATHS = ['status', 'statusCode', 'response.status', 'response.statusCode', '$metadata.httpStatusCode'];
/** Classes whose numeric `code` is a status: MCP's `StreamableHTTPError` and `SseError`, Google's `GaxiosError`. */
const STATUS_IN_CODE = /^(?:StreamableHTTP|Sse|Gaxios|Http|HTTP|Api|API)\w*Error$/;

/**
 * The HTTP error status (400 to 599) of an error, if any. A `code` counts only for classes that are known to keep a status there.
 */
export const readStatus = (error: unknown): number | undefined => {
  const paths = readNames(error).some((name) => STATUS_IN_CODE.test(name)) ? [...PATHS, 'code'] : PATHS;
  const values = paths.map((path) => path.split('.').reduce(read, error));
  const numbers = values.map((value) => (typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value));
  return numbers.find((value) => typeof value === 'number' && statusMeaning(value) !== undefined) as number | undefined;
};
