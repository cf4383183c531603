import type { ErrorCategory } from './taxonomy.ts';
import { read, readNames } from './untrusted.ts';

/** Redis says what is wrong in the first word of its reply, unless that is `ERR`. */
const REPLIES: Readonly<Partial<Record<ErrorCategory, string>>> = {
  invalid_input: 'WRONGTYPE EXECABORT NOSCRIPT BUSYGROUP BUSYKEY NOGROUP CROSSSLOT',
  permission: 'NOAUTH WRONGPASS NOPERM DENIED',
  resource: 'OOM',
  server: 'LOADING CLUSTERDOWN MASTERDOWN READONLY TRYAGAIN BUSY MISCONF NOREPLICAS',
};

/** What is about the command, of replies that begin with `ERR`. */
const COMMAND =
  /^-?ERR (?:unknown (?:sub)?command|wrong number of arguments|syntax error|(?:hash )?value is (?:not|out of range)|no such key|index out of range)/i;

/** Replies that begin with `ERR`, from before there were words for them. It says nothing of itself. */
const OLD_REPLIES: readonly (readonly [RegExp, ErrorCategory])[] = [
  [/^-?ERR max number of clients reached/, 'resource'],
  [/^-?ERR max (?:daily )?requests? limit exceeded/, 'resource'], // Upstash: what the plan allows is used up
  [/^-?ERR Error running script\b[^\n]{0,300}?: -?OOM\b/, 'resource'],
  [COMMAND, 'invalid_input'],
  [/^-?ERR (?:invalid password|operation not permitted|Client sent AUTH|AUTH )/, 'permission'],
];

const REPLY_CLASS: ReadonlySet<string> = new Set(['ReplyError', 'ErrorReply', 'SimpleError', 'BlobError']);

/** What a reply of Redis means; undefined where the class is none of redis' or ioredis' replies. */
export function redisReply(error: unknown, message: string): ErrorCategory | undefined {
  if (!readNames(error).some((name) => REPLY_CLASS.has(name))) return undefined;
  const old = OLD_REPLIES.find(([pattern]) => pattern.test(message));
  return old?.[1] ?? BY_REPLY.get(/^-?([A-Z]{3,16})\b/.exec(message)?.[1] ?? '');
}

/** Codes of MongoDB's server. */
const CODES: Readonly<Partial<Record<ErrorCategory, readonly number[]>>> = {
  // BadValue, FailedToParse, TypeMismatch, NamespaceNotFound, DollarPrefixedFieldName, CommandNotFound, ImmutableField,
  // DocumentValidationFailure, DuplicateKey (two numbers), unknown pipeline stage
  invalid_input: [2, 9, 14, 26, 52, 59, 66, 121, 11000, 11001, 40324],
  // Unauthorized, AuthenticationFailed, AtlasError ('bad auth')
  permission: [13, 18, 8000],
  // LockTimeout, MaxTimeMSExpired, NetworkTimeout, NetworkInterfaceExceededTimeLimit, ExceededTimeLimit
  timeout: [24, 50, 89, 202, 262],
  // HostUnreachable, HostNotFound, SocketException
  network: [6, 7, 9001],
  // InternalError, ShutdownInProgress, WriteConflict, FailedToSatisfyReadPreference, PrimarySteppedDown,
  // LegacyNotPrimary, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange, not primary
  server: [1, 91, 112, 133, 189, 10058, 10107, 11600, 11602, 13435, 13436],
  // ExceededMemoryLimit, QueryExceededMemoryLimitNoDiskUseAllowed, OutOfDiskSpace
  resource: [146, 292, 14031],
  cancelled: [11601],
};

const MONGO_CLASS = /^Mongo[A-Z]\w{0,60}Error$/;
const MONGO_NETWORK = /^Mongo(?:Network|NotConnected|TopologyClosed|PoolClosed|PoolCleared|ClientClosed)Error$/;

/** What an error of MongoDB's driver means: by the server's code, else by the class of what broke on the way. */
export function mongoCode(error: unknown): ErrorCategory | undefined {
  const names = readNames(error).filter((name) => MONGO_CLASS.test(name));
  if (names.length === 0) return undefined;
  const code = read(error, 'code');
  const category = typeof code === 'number' ? BY_CODE.get(code) : undefined;
  return category ?? (names.some((name) => MONGO_NETWORK.test(name)) ? 'network' : undefined);
}

const BY_REPLY: ReadonlyMap<string, ErrorCategory> = new Map(
  Object.entries(REPLIES).flatMap(([category, words]) =>
    words.split(' ').map((word): [string, ErrorCategory] => [word, category as ErrorCategory]),
  ),
);

const BY_CODE: ReadonlyMap<number, ErrorCategory> = new Map(
  Object.entries(CODES).flatMap(([category, codes]) =>
    codes.map((code): [number, ErrorCategory] => [code, category as ErrorCategory]),
  ),
);
