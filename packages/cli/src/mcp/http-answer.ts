import type { IncomingMessage } from 'node:http';
import { type RpcMessage, readLine } from './rpc-message.ts';
import { TooLongError } from './too-long.ts';

/** Statuses whose body may be the answer. The others are about the way to the server. */
const AS_MESSAGE: ReadonlySet<number> = new Set([400, 404, 405, 406, 409, 413, 415, 422]);

/** How servers that answer 400 say that they do not know a session. Other parameters may have the word in their names. */
const LOST = /session[ -]?id|\b(?:no valid|unknown|invalid) session\b|\bsession (?:not found|expired|terminated)\b/i;

export const isFine = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

/** Whether the body of an error may be the answer to a request, as servers of the stateless protocol write it. */
export const isMessageStatus = ({ statusCode = 0 }: IncomingMessage): boolean => AS_MESSAGE.has(statusCode);

/** Whether the server does not know the session of a request any more, because it was started again or the session was idle for long. */
export const isLostSession = ({ statusCode }: IncomingMessage, problem: Buffer): boolean =>
  statusCode === 404 || (statusCode === 400 && LOST.test(problem.toString())); // Many servers answer 400.

export const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const isAnswerTo = (line: Buffer, requests: readonly RpcMessage[]): boolean =>
  readLine(line)?.messages.some(({ id }) => id !== undefined && requests.some((one) => one.id === id)) ?? false;

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
