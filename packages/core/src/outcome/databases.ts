import type { CodeMeaning } from './node-errors.ts';
import { sqliteCode } from './sqlite.ts';
import { mongoCode, redisReply } from './stores.ts';
import type { ErrorCategory } from './taxonomy.ts';
import { read, readNames, readText } from './untrusted.ts';

/**
 * What a database said, by the codes of its driver: pg, postgres.js, Neon, PostgREST; mysql, mysql2; node:sqlite,
 * better-sqlite3; redis, ioredis; mongodb. SQL that the database refuses is the model's own bad argument, and as good
 * as a 400: only what is about the database itself is an outage. Undefined for an error that is of no database.
 */
export function databaseError(error: unknown, message: string): CodeMeaning | undefined {
  const category =
    mysqlCode(readText(error, 'code', 64)) ??
    sqlState(error, message) ??
    sqliteCode(error) ??
    mongoCode(error) ??
    redisReply(error, message);
  return category && { category };
}

/** SQLSTATE by its class, the first two characters; where one state means something else, by all five. */
const SQLSTATES: Readonly<Record<string, ErrorCategory>> = {
  '08': 'network', // connection exception
  '0A': 'invalid_input', // feature not supported
  '21': 'invalid_input', // cardinality violation
  '22': 'invalid_input', // data exception
  '23': 'invalid_input', // constraint violation
  '26': 'invalid_input', // no such prepared statement
  '28': 'permission', // authorization
  '3D': 'invalid_input', // no such database
  '3F': 'invalid_input', // no such schema
  '40': 'server', // deadlock, serialization: the database gave up, and may manage next time
  '42': 'invalid_input', // syntax, no such table or column
  '44': 'invalid_input', // WITH CHECK OPTION
  '45': 'tool_error', // MySQL's SIGNAL: a rule of the business
  '53': 'resource', // disk, memory, connections
  '54': 'invalid_input', // statement too complex
  '57': 'server', // operator intervention: 57P01 shut down, 57P03 starting up
  '58': 'filesystem', // errors outside of the database
  '08004': 'resource', // mysql: too many connections
  '25006': 'invalid_input', // a write in a transaction that only reads, as servers for models often open it
  '25P02': 'invalid_input', // a statement after one that was refused
  '25P03': 'timeout', // idle in transaction for too long
  '25P04': 'timeout', // transaction for too long
  '42501': 'permission',
  '55P03': 'timeout', // waited too long for a lock
  '57014': 'timeout', // statement timeout
  P0001: 'tool_error', // RAISE EXCEPTION: a rule of the business
  P0002: 'invalid_input', // no such row
  XX000: 'server',
};

/** Five characters are too few to believe alone (`EPERM`): beside them is what only a database says. */
const VOUCHERS = ['severity', 'routine', 'sqlState', 'sqlMessage'] as const;
const DATABASE_CLASS = /^(?:Database|Postgres|PgServer|NeonDb|Postgrest)Error$/;

function sqlState(error: unknown, message: string): ErrorCategory | undefined {
  const state = readText(error, 'sqlState', 8) ?? readText(error, 'code', 8) ?? '';
  if (!/^[0-9A-Z]{5}$/.test(state)) return undefined;
  const vouched =
    VOUCHERS.some((key) => typeof read(error, key) === 'string') ||
    readNames(error).some((name) => DATABASE_CLASS.test(name)) ||
    (read(error, 'hint') !== undefined && read(error, 'details') !== undefined); // supabase
  if (!vouched) return undefined;
  // PostgreSQL has one state for a statement that took too long and for one that its client called off.
  if (state === '57014' && /\bdue to user request\b/.test(message)) return 'cancelled';
  return SQLSTATES[state] ?? SQLSTATES[state.slice(0, 2)];
}

/** Codes of mysql and mysql2 that say more than their SQLSTATE, which is 42000 or HY000 for almost anything. */
const MYSQL: Readonly<Partial<Record<ErrorCategory, string>>> = {
  invalid_input: `ER_PARSE_ERROR ER_EMPTY_QUERY ER_NO_SUCH_TABLE ER_BAD_TABLE_ERROR ER_BAD_FIELD_ERROR ER_BAD_DB_ERROR
    ER_DUP_ENTRY ER_NO_DEFAULT_FOR_FIELD ER_TRUNCATED_WRONG_VALUE ER_TRUNCATED_WRONG_VALUE_FOR_FIELD ER_DATA_TOO_LONG
    ER_WRONG_ARGUMENTS ER_NO_REFERENCED_ROW_2 ER_ROW_IS_REFERENCED_2 ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION`,
  permission: 'ER_HOST_NOT_PRIVILEGED ER_HOST_IS_BLOCKED ER_MUST_CHANGE_PASSWORD ER_ACCOUNT_HAS_BEEN_LOCKED',
  resource: `ER_CON_COUNT_ERROR ER_TOO_MANY_USER_CONNECTIONS ER_USER_LIMIT_REACHED ER_OUT_OF_RESOURCES ER_OUTOFMEMORY
    ER_DISK_FULL ER_RECORD_FILE_FULL ER_ENGINE_OUT_OF_MEMORY`,
  timeout: 'ER_LOCK_WAIT_TIMEOUT ER_QUERY_TIMEOUT ER_STATEMENT_TIMEOUT PROTOCOL_SEQUENCE_TIMEOUT',
  server: 'ER_SERVER_SHUTDOWN ER_NORMAL_SHUTDOWN ER_SHUTDOWN_COMPLETE ER_LOCK_DEADLOCK ER_OPTION_PREVENTS_STATEMENT',
  network: `PROTOCOL_CONNECTION_LOST PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR PROTOCOL_ENQUEUE_AFTER_QUIT
    PROTOCOL_UNEXPECTED_PACKET HANDSHAKE_SSL_ERROR HANDSHAKE_NO_SSL_SUPPORT`,
  cancelled: 'ER_QUERY_INTERRUPTED',
  tool_error: 'ER_SIGNAL_EXCEPTION',
};

const BY_MYSQL_CODE: ReadonlyMap<string, ErrorCategory> = new Map(
  Object.entries(MYSQL).flatMap(([category, codes]) =>
    codes.split(/\s+/).map((code): [string, ErrorCategory] => [code, category as ErrorCategory]),
  ),
);

function mysqlCode(code = ''): ErrorCategory | undefined {
  if (/^ER_\w{0,20}ACCESS_DENIED_/.test(code)) return 'permission';
  return BY_MYSQL_CODE.get(code);
}
