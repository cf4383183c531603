import type { ErrorCategory } from './taxonomy.ts';
import { read, readText } from './untrusted.ts';

/** SQLite's primary result codes. What it calls MISUSE or NOTFOUND says nothing about the tool, and is left out. */
const RESULTS: readonly (readonly [number, string, ErrorCategory])[] = [
  [1, 'ERROR', 'invalid_input'], // syntax, no such table or column
  [2, 'INTERNAL', 'server'],
  [3, 'PERM', 'permission'],
  [5, 'BUSY', 'timeout'], // another connection holds the lock, and didn't let go in time
  [6, 'LOCKED', 'timeout'],
  [7, 'NOMEM', 'resource'],
  [8, 'READONLY', 'permission'],
  [9, 'INTERRUPT', 'cancelled'],
  [10, 'IOERR', 'filesystem'],
  [11, 'CORRUPT', 'filesystem'],
  [13, 'FULL', 'resource'],
  [14, 'CANTOPEN', 'filesystem'],
  [17, 'SCHEMA', 'server'],
  [18, 'TOOBIG', 'invalid_input'],
  [19, 'CONSTRAINT', 'invalid_input'],
  [20, 'MISMATCH', 'invalid_input'],
  [23, 'AUTH', 'permission'],
  [25, 'RANGE', 'invalid_input'],
  [26, 'NOTADB', 'filesystem'],
];

const BY_NUMBER: ReadonlyMap<number, ErrorCategory> = new Map(
  RESULTS.map(([number, , category]) => [number, category]),
);
const BY_NAME: ReadonlyMap<string, ErrorCategory> = new Map(RESULTS.map(([, name, category]) => [name, category]));

/**
 * What an error of SQLite means: by `errcode` (node:sqlite), whose low byte is the primary code, or by a code such as
 * `SQLITE_CONSTRAINT_UNIQUE` (better-sqlite3, sqlite3, libsql, Bun). SQL that it refuses is the model's.
 */
export function sqliteCode(error: unknown): ErrorCategory | undefined {
  const code = readText(error, 'code', 64) ?? '';
  if (code !== 'ERR_SQLITE_ERROR') return BY_NAME.get(/^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? '');
  const number = read(error, 'errcode');
  return typeof number === 'number' ? BY_NUMBER.get(number & 0xff) : undefined;
}
