import type { ErrorCategory } from './taxonomy.ts';

/** What an error code says. */
export interface CodeMeaning {
  readonly category: ErrorCategory;
  /** The code has several meanings: where the message says more, believe the message. */
  readonly vague?: boolean;
  /** The code speaks of the file that was asked for, not of the disk: in an error *result* it is `tool_error` (O2). */
  readonly aboutInput?: boolean;
}

/**
 * Codes of Node, libuv, c-ares, undici, OpenSSL, axios, got, nodemailer, Bun and Chromium (`net::ERR_…`, so Playwright's).
 *
 * | category | codes |
 * |---|---|
 * | network | connection refused, reset or closed; host or name not found; no route; TLS, certificates; HTTP parsing |
 * | timeout | `ETIMEDOUT` and its like of every library |
 * | permission | `EACCES`, `EPERM`, and `ERR_ACCESS_DENIED` of Node's permission model |
 * | filesystem | the path is wrong (`ENOENT`, `EISDIR`, …), or the disk is (`EIO`, `EROFS`, `ESTALE`, …) |
 * | resource | used up: `ENOSPC`, `EDQUOT` (disk), `EMFILE`, `ENFILE` (handles), `ENOMEM`, `ENOBUFS` (memory) |
 * | cancelled | aborted |
 * | server | an answer that is not the JSON it was to be |
 * | invalid_input | a URL that is none, an address that the mail server refuses |
 *
 * A full disk is `resource`, not `filesystem`: what mends it is making room, as with memory and quota. gRPC's
 * RESOURCE_EXHAUSTED draws the same line.
 */
const CODES: Readonly<Partial<Record<ErrorCategory, string>>> = {
  network: `ECONNREFUSED ECONNRESET ENOTFOUND EPIPE EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENETRESET EADDRNOTAVAIL
    ENOTCONN ESHUTDOWN EPROTO ENODATA ESERVFAIL EREFUSED EBADRESP ERR_NETWORK ERR_SOCKET_CLOSED
    ERR_STREAM_PREMATURE_CLOSE ERR_HTTP_CONTENT_LENGTH_MISMATCH UND_ERR_RES_CONTENT_LENGTH_MISMATCH
    ERR_CONTENT_LENGTH_MISMATCH ERR_INCOMPLETE_CHUNKED_ENCODING ERR_EMPTY_RESPONSE ERR_NAME_NOT_RESOLVED
    ERR_NAME_RESOLUTION_FAILED ERR_INTERNET_DISCONNECTED ERR_ADDRESS_UNREACHABLE ERR_NETWORK_CHANGED
    ERR_PROXY_CONNECTION_FAILED ERR_TUNNEL_CONNECTION_FAILED ERR_SOCKET_NOT_CONNECTED
    UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED CERT_HAS_EXPIRED
    CERT_NOT_YET_VALID DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
    UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY ConnectionRefused ConnectionClosed FailedToOpenSocket`,
  timeout: `ETIMEDOUT ESOCKETTIMEDOUT ETIMEOUT ETIME UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT
    UND_ERR_BODY_TIMEOUT ERR_SOCKET_CONNECTION_TIMEOUT ERR_TIMED_OUT ERR_CONNECTION_TIMED_OUT`,
  permission: 'EACCES EPERM ERR_ACCESS_DENIED EAUTH',
  resource: 'ENOSPC EDQUOT EMFILE ENFILE ENOMEM ENOBUFS ERR_WORKER_OUT_OF_MEMORY insufficient_quota',
  filesystem: 'EIO EROFS ESTALE EBUSY EXDEV ENODEV ENXIO ETXTBSY',
  cancelled: 'ABORT_ERR ERR_CANCELED UND_ERR_ABORTED ECANCELED',
  invalid_input: 'ERR_INVALID_URL ERR_UNESCAPED_CHARACTERS EENVELOPE',
  server: 'ERR_BODY_PARSE_FAILURE',
};

const ABOUT_INPUT = 'ENOENT ENOTDIR EISDIR EEXIST ENOTEMPTY ENAMETOOLONG ELOOP EFBIG';

/** Families whose members are too many to list. All of them mean that no connection came about, or that it broke. */
const NETWORK_FAMILY = /^(?:EAI_|ERR_CONNECTION_|ERR_CERT_|ERR_SSL_|ERR_TLS_|ERR_HTTP2_|HPE_)[A-Z0-9_]+$/;

const MEANINGS: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ...Object.entries(CODES).flatMap(([category, codes]) =>
    codes.split(/\s+/).map((code): [string, CodeMeaning] => [code, { category: category as ErrorCategory }]),
  ),
  ...ABOUT_INPUT.split(' ').map((code): [string, CodeMeaning] => [code, { category: 'filesystem', aboutInput: true }]),
  // axios gives this code to its time-outs and to broken connections alike.
  ['ECONNABORTED', { category: 'network', vague: true }],
]);

/** What a string code such as `ECONNREFUSED` means; undefined for a code we don't know. */
export function nodeCode(code: string): CodeMeaning | undefined {
  const meaning = MEANINGS.get(code);
  if (meaning) return meaning;
  if (NETWORK_FAMILY.test(code)) return { category: 'network' };
  // Node's own checks in `fs.rm` and `fs.cp`: a folder for a file, a copy onto itself.
  return code.startsWith('ERR_FS_') ? { category: 'filesystem', aboutInput: true } : undefined;
}
