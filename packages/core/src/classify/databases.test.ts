import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { classifyError, classifyResult } from './classify.ts';
import type { ErrorCategory } from './taxonomy.ts';

const now = { unixMs: 0 };
const category = (error: unknown) => classifyError(error, now).category;

/** The shape of an error: a class by its name, and the fields that the driver sets. */
function shape(name: string, message: string, fields: object = {}): Error {
  const Named = { [name]: class extends Error {} }[name] as new (message: string) => Error;
  return Object.assign(new Named(message), fields);
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('The database was to refuse this, and did not.');
}

describe('O2: node:sqlite, with a real database', () => {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER CHECK (n > 0)) STRICT; INSERT INTO a VALUES (1, 1)');

  it.each([
    'SELEC 1',
    'SELECT * FROM nope',
    'SELECT nope FROM a',
    'INSERT INTO a VALUES (1, 1)',
    'INSERT INTO a VALUES (2, -1)',
    "INSERT INTO a VALUES ('x', 1)",
  ])('O2: SQL that SQLite rejects is a mistake of the model: %s', (sql) => {
    expect(category(thrownBy(() => db.exec(sql)))).toBe('invalid_input');
  });

  it('O2: a file that cannot be opened, is not a database, or is read-only is recognized', () => {
    expect(category(thrownBy(() => new DatabaseSync('/nowhere/at/all.db')))).toBe('filesystem');
    const page = new DatabaseSync(process.execPath, { readOnly: true });
    expect(category(thrownBy(() => page.exec('SELECT * FROM sqlite_schema')))).toBe('filesystem');
    db.exec('PRAGMA query_only = 1');
    expect(category(thrownBy(() => db.exec('DELETE FROM a')))).toBe('permission');
    db.exec('PRAGMA query_only = 0');
  });

  it('O2: a full database is recognized', () => {
    const small = new DatabaseSync(':memory:');
    small.exec('PRAGMA max_page_count = 2; CREATE TABLE a (b BLOB)');
    expect(category(thrownBy(() => small.exec('INSERT INTO a VALUES (zeroblob(100000))')))).toBe('resource');
  });
});

describe('O2: codes of SQLite', () => {
  it.each<[ErrorCategory, string]>([
    ['invalid_input', 'SQLITE_ERROR SQLITE_CONSTRAINT_UNIQUE SQLITE_MISMATCH SQLITE_TOOBIG'],
    ['timeout', 'SQLITE_BUSY SQLITE_BUSY_SNAPSHOT SQLITE_LOCKED'],
    ['resource', 'SQLITE_FULL SQLITE_NOMEM'],
    ['permission', 'SQLITE_READONLY SQLITE_AUTH SQLITE_PERM'],
    ['filesystem', 'SQLITE_CANTOPEN SQLITE_IOERR_READ SQLITE_CORRUPT SQLITE_NOTADB'],
    ['unknown', 'SQLITE_MISUSE SQLITE_ SQLITE_NOPE'],
  ])('O2: better-sqlite3: %s: %s', (wanted, codes) => {
    for (const code of codes.split(' ')) {
      expect([code, category(shape('SqliteError', 'x', { code }))]).toEqual([code, wanted]);
    }
  });

  it.each([
    [5, 'timeout'],
    [517, 'timeout'], // SQLITE_BUSY_SNAPSHOT
    [21, 'unknown'],
    ['5', 'unknown'],
  ] as const)('O2: node:sqlite: %s is %s', (errcode, wanted) => {
    expect(category(Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode }))).toBe(wanted);
  });
});

describe('O2: SQLSTATE', () => {
  const pg = (code: string, message = 'x') =>
    shape('DatabaseError', message, { name: 'error', code, severity: 'ERROR', routine: 'r', length: 1 });

  it.each<[ErrorCategory, string]>([
    ['invalid_input', '42601 42P01 42703 22P02 23505 23503 0A000 25006 54001 44000'],
    ['invalid_input', '3D000 3F000 26000 25P02 P0002'],
    ['permission', '28P01 28000'],
    ['network', '08006 08001'],
    ['server', '57P01 57P03 40P01 40001 XX000'],
    ['timeout', '57014 55P03 25P03'],
    ['resource', '53300 53100 53200'],
    ['filesystem', '58030'],
    ['tool_error', 'P0001 42501'],
    ['unknown', '99999 25001 P0003'],
  ])('O2: PostgreSQL: %s: %s', (wanted, codes) => {
    for (const code of codes.split(' ')) expect([code, category(pg(code))]).toEqual([code, wanted]);
  });

  it('O2: it has priority over codes that the text quotes, and recognizes a requested stop', () => {
    expect(category(pg('42601', 'syntax error at or near "ECONNREFUSED"'))).toBe('invalid_input');
    expect(category(pg('57014', 'canceling statement due to statement timeout'))).toBe('timeout');
    expect(category(pg('57014', 'canceling statement due to user request'))).toBe('cancelled');
  });

  it('O2: five characters count only beside other fields of a database', () => {
    expect(category(Object.assign(new Error('x'), { code: '42601' }))).toBe('unknown');
    expect(category(Object.assign(new Error('x'), { code: '42601', severity: 'ERROR' }))).toBe('invalid_input');
    expect(category(shape('PostgresError', 'x', { code: '42601' }))).toBe('invalid_input');
    expect(category(shape('DatabaseError', 'x', { code: 'EPERM' }))).toBe('permission');
    expect(category(shape('DatabaseError', 'x', { code: 'EPIPE', severity: 'x' }))).toBe('network');
  });

  it('O2: results of supabase are recognized', () => {
    const error = { code: '42P01', details: null, hint: null, message: 'relation "x" does not exist' };
    expect(classifyResult({ data: null, error, status: 404 }, now)?.category).toBe('invalid_input');
    expect(classifyResult({ error: { ...error, code: '57P03' } }, now)?.category).toBe('server');
  });
});

describe('O2: MySQL', () => {
  it.each<[ErrorCategory, string, string]>([
    ['invalid_input', 'ER_PARSE_ERROR', '42000'],
    ['invalid_input', 'ER_NO_SUCH_TABLE', '42S02'],
    ['invalid_input', 'ER_BAD_FIELD_ERROR', '42S22'],
    ['invalid_input', 'ER_DUP_ENTRY', '23000'],
    ['invalid_input', 'ER_SOMETHING_NEW', '22001'],
    ['permission', 'ER_ACCESS_DENIED_ERROR', '28000'],
    ['permission', 'ER_TABLEACCESS_DENIED_ERROR', '42000'],
    ['permission', 'ER_DBACCESS_DENIED_ERROR', '42000'],
    ['resource', 'ER_CON_COUNT_ERROR', '08004'],
    ['resource', 'ER_TOO_MANY_USER_CONNECTIONS', '42000'],
    ['timeout', 'ER_LOCK_WAIT_TIMEOUT', 'HY000'],
    ['server', 'ER_SERVER_SHUTDOWN', '08S01'],
    ['server', 'ER_LOCK_DEADLOCK', '40001'],
    ['tool_error', 'ER_SIGNAL_EXCEPTION', 'HY000'],
    ['tool_error', 'ER_SOMETHING_NEW', '45000'],
    ['unknown', 'ER_SOMETHING_NEW', 'HY000'],
  ])('O2: %s: %s %s', (wanted, code, sqlState) => {
    expect(category(Object.assign(new Error('x'), { code, errno: 1, sqlState, sqlMessage: 'x' }))).toBe(wanted);
  });

  it('O2: the protocol has its own codes', () => {
    const coded = (code: string) => Object.assign(new Error('x'), { code, fatal: true });
    expect(category(coded('PROTOCOL_SEQUENCE_TIMEOUT'))).toBe('timeout');
    expect(category(coded('PROTOCOL_CONNECTION_LOST'))).toBe('network');
  });
});

describe('O2: Redis', () => {
  it.each<[ErrorCategory, string]>([
    ['invalid_input', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
    ['invalid_input', "ERR unknown command 'FOO', with args beginning with: 'timed out'"],
    ['permission', 'NOAUTH Authentication required.'],
    ['permission', 'WRONGPASS invalid username-password pair or user is disabled.'],
    ['permission', "NOPERM this user has no permissions to run the 'set' command"],
    ['permission', 'ERR invalid password'],
    ['resource', "OOM command not allowed when used memory > 'maxmemory'."],
    ['resource', 'ERR max number of clients reached'],
    ['server', 'LOADING Redis is loading the dataset in memory'],
    ['server', 'CLUSTERDOWN The cluster is down'],
    ['server', 'MASTERDOWN Link with MASTER is down'],
    ['server', "READONLY You can't write against a read only replica."],
    ['invalid_input', "ERR wrong number of arguments for 'get' command"],
    ['invalid_input', 'ERR syntax error'],
    ['invalid_input', 'ERR value is not an integer or out of range'],
    ['invalid_input', 'ERR no such key'],
    ['invalid_input', 'ERR index out of range'],
    ['resource', 'ERR max requests limit exceeded. Limit: 500000, Usage: 500000.'],
    ['resource', 'ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.'],
    ['resource', 'ERR Error running script: OOM'],
    ['resource', 'ERR Error running script (call to f_1): @user_script:1: -OOM command not allowed'],
    ['unknown', 'ERR Error running script (call to f_1): @user_script:1: attempt to call a nil value'],
    ['unknown', 'ERR server is out of order'],
    ['unknown', 'Oddly enough'],
  ])('O2: %s: %s', (wanted, reply) => {
    expect(category(shape('ReplyError', reply))).toBe(wanted);
    expect(category(shape('SimpleError', reply))).toBe(wanted);
  });

  it('O2: the first word counts only in a reply', () => {
    expect(category(new Error('ERR something'))).toBe('unknown');
  });
});

describe('O2: MongoDB', () => {
  it.each<[ErrorCategory, readonly number[]]>([
    ['invalid_input', [2, 9, 11000, 121]],
    ['permission', [13, 18]],
    ['timeout', [50]],
    ['network', [6]],
    ['server', [91, 189, 10107, 13435, 11600]],
    ['resource', [14031]],
    ['cancelled', [11601]],
    ['unknown', [99999]],
  ])('O2: %s: %j', (wanted, codes) => {
    for (const code of codes)
      expect([code, category(shape('MongoServerError', 'x', { code }))]).toEqual([code, wanted]);
  });

  it('O2: broken connections are recognized, and numbers of other libraries are not', () => {
    expect(category(shape('MongoNetworkError', 'connection 3 to 127.0.0.1:27017 closed'))).toBe('network');
    expect(category(shape('MongoNetworkTimeoutError', 'connection 3 to 127.0.0.1:27017 timed out'))).toBe('timeout');
    expect(category(shape('MongoPoolClearedError', 'x'))).toBe('network');
    expect(category(Object.assign(new Error('x'), { code: 11000 }))).toBe('unknown');
  });
});
