import { read, readText, saysSessionLost } from '@breakerbox/core/internal';

/** Codes of JSON-RPC errors by which servers say so. */
const CODES: readonly unknown[] = [-32_600, -32_602, -32_000, -32_001];

/** Characters of an error that are read. */
const MOST_TEXT = 4_000;

/**
 * Whether the server does not know the session of a transport any more: it was started again, or the session was idle for long. No tool
 * of the client can be reached until the client connects again.
 */
export const isSessionLost = (error: unknown, transport: object | undefined): boolean => {
  if (typeof read(transport, 'sessionId') !== 'string') return false;
  const code = read(error, 'code');
  const status = [read(error, 'status'), read(read(error, 'data'), 'status'), code].find(isStatus);
  if (status === 404) return true;
  const isAnswer = status !== undefined || CODES.includes(code);
  return isAnswer && saysSessionLost(readText(error, 'message', MOST_TEXT) ?? '', status);
};

const isStatus = (value: unknown): value is number => typeof value === 'number' && value >= 400 && value < 600;
