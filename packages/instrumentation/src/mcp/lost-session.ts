import { read, readText } from '@breakerbox/core/internal';

/** How servers and gateways say that they do not know a session. */
const LOST =
  /\bno valid session|\bsession[ -]?(?:id )?(?:is |was |has )?(?:not (?:found|known)|unknown|expired|terminated|invalid)|\bunknown session|\bnot initialized\b|\bbefore initialization\b|\bexpect(?:ed|s)? initialize\b/i;

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
  return (status !== undefined || CODES.includes(code)) && LOST.test(readText(error, 'message', MOST_TEXT) ?? '');
};

const isStatus = (value: unknown): value is number => typeof value === 'number' && value >= 400 && value < 600;
