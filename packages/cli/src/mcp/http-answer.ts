import type { IncomingMessage } from 'node:http';
import { read, readText, saysSessionLost } from '@breakerbox/core/internal';
import { isSameId, type RpcMessage, readLine } from './rpc-message.ts';
import { TooLongError } from './too-long.ts';

/** Statuses whose body may be the answer. The others are about the way to the server. */
const AS_MESSAGE: ReadonlySet<number> = new Set([400, 404, 405, 406, 409, 413, 415, 422]);

/** Statuses that refuse a request before it is looked at. They may mean a lost session, so the handshake is tried (M1). */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 410, 422]);

/** Codes of errors by which servers answer 200 about the session. */
const SESSION_CODES: ReadonlySet<unknown> = new Set([-32_600, -32_602, -32_000, -32_001]);

export const isFine = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

/** Whether the answer is of the server. A proxy before a server that is down answers with 502 to 504. */
export const isOfServer = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode < 500;

/** Whether the body of an error may be the answer to a request, as servers of the stateless protocol write it. */
export const isMessageStatus = ({ statusCode = 0 }: IncomingMessage): boolean => AS_MESSAGE.has(statusCode);

/** Whether the server does not know the session of a request any more, because it was started again or the session was idle for long. */
export const isLostSession = (response: IncomingMessage, problem: Buffer): boolean =>
  response.statusCode === 404 || namesSession(response, problem);

/** Whether the text of a refusal is about the session. */
export const namesSession = ({ statusCode = 0 }: IncomingMessage, problem: Buffer): boolean =>
  statusCode >= 400 && saysSessionLost(`${problem}`, statusCode);

/** Whether the server has refused a request in a way that says nothing about it, so that it may have lost the session. */
export const isRefused = ({ statusCode = 0 }: IncomingMessage): boolean => REFUSED.has(statusCode);

/** Whether an answer says that the server does not know the session. */
export const answersSessionLost = (line: Buffer): boolean =>
  line.length < MOST_SESSION_ERROR &&
  (readLine(line)?.messages ?? []).some(
    ({ error }) =>
      SESSION_CODES.has(read(error, 'code')) && saysSessionLost(readText(error, 'message', MOST_SESSION_ERROR) ?? ''),
  );

/** Characters of an error about a session. */
const MOST_SESSION_ERROR = 4_000;

export const mediaType = ({ headers }: Pick<IncomingMessage, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const isAnswerTo = (line: Buffer, requests: readonly RpcMessage[]): boolean =>
  readLine(line)?.messages.some(({ id }) => requests.some((one) => isSameId(id, one.id))) ?? false;

/**
 * @param end Bytes that are added to the body, so that it need not be copied for them.
 * @throws TooLongError (rejects)
 */
export const wholeBody = async (response: IncomingMessage, mostBytes: number, end = ''): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) throw new TooLongError();
    parts.push(chunk);
  }
  return Buffer.concat([...parts, Buffer.from(end)]);
};
