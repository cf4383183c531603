import type { IncomingMessage } from 'node:http';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Change } from './changes.ts';
import { jsonOf, warnOfIgnored } from './fitting.ts';
import { MOST_PATH } from './schema.ts';
import { requestTo, shownUrl, type Target } from './target.ts';

/** Milliseconds of silence after which a stream counts as dead. The endpoint writes every 15 s. */
const SILENT_MS = 45_000;
/** Characters of one event at most. The control API writes 60 KB at most. */
const MOST_CHARACTERS = 64 * 1024;
/** Events that are read before other work of the process has its turn. */
const A_TURN = 50;
/** Characters that are read in a millisecond, after the recent changes: the rest waits at the endpoint. An event counts as 100 at least. */
const MOST_EACH_MS = 256;
/** Streams that may each be read at that rate. More of them share what these may have. */
const FEW = 8;
const LEAST_OF_EVENT = 100;
/** What a byte between the characters costs, such as of the sizes of chunks: Node takes as long for a chunk of one byte as for an event. */
const BETWEEN = 8;
/** Bytes that were received, and are not read yet. */
const AHEAD = 64 * 1024;
/** Bytes of events that wait to be read here. Node would keep 65,536 chunks of one byte. */
const WAITING_BYTES = 1_024;
/** Milliseconds of reading that a silent stream has left: 512 KB. */
const SAVED_MS = 2_000;

const text = z.string().max(1_024).optional();
const ChangeLine = z.object({
  kind: z.enum([
    'circuit.transition',
    'systemic.detected',
    'systemic.resolved',
    'budget.exhausted',
    'budget.resumed',
    'limit.advised',
    'limit.reached',
    'limit.lifted',
    'limit.extended',
    'action',
  ]),
  agent: z.string().max(1_024),
  unixMs: z.number().min(0).max(8.64e15),
  session: z.string().max(MOST_PATH).optional(),
  tool: text,
  from: text,
  to: text,
  category: text,
  limit: text,
  child: text,
  who: text,
  reason: text,
}) satisfies z.ZodType<Change>;

/**
 * The changes of an endpoint: the recent ones, then each new one, until the endpoint ends or is silent for 45 s.
 *
 * @throws Error if the endpoint does not answer, if it refuses, or if `signal` aborts.
 */
export const readChanges = (target: Target, signal: AbortSignal): AsyncGenerator<Change> =>
  readChangesAmong(() => 1, target, signal);

/** The same, as one of so many streams that this process reads. */
export async function* readChangesAmong(
  streams: () => number,
  target: Target,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const response = await opened(target, signal);
  response.setEncoding('utf8');
  const { socket } = response;
  let rest = '';
  let paidMs = 0;
  let readBytes = 0;
  let paidBetween = 0;
  for await (const part of response) {
    const events = `${rest}${part}`.split('\n\n');
    rest = events.pop() ?? '';
    if (rest.length > MOST_CHARACTERS)
      throw new Error(
        `${shownUrl(target)} sent an event of more than ${MOST_CHARACTERS} characters. Check that it is a control API`,
      );
    for (const [index, event] of events.entries()) {
      if (index % A_TURN === A_TURN - 1) await immediate();
      const change = changeOf(event, target);
      if (change !== undefined) yield change;
    }
    const now = performance.now();
    const eachMs = MOST_EACH_MS * Math.min(1, FEW / streams());
    readBytes += Buffer.byteLength(part);
    const between = Math.max(paidBetween, socket.bytesRead - readBytes - AHEAD);
    const cost = Math.max(part.length, events.length * LEAST_OF_EVENT) + (between - paidBetween) * BETWEEN;
    paidBetween = between;
    paidMs = Math.max(paidMs, now - SAVED_MS) + cost / eachMs;
    if (paidMs > now) await sleep(paidMs - now, undefined, { signal });
    else await immediate(); // What the socket has received would be read without a pause.
  }
}

/** Undefined for a comment, and for what is no change that this version knows. */
const changeOf = (event: string, target: Target): Change | undefined => {
  const data = event.split('\n').find((line) => line.startsWith('data:'));
  if (data === undefined) return undefined;
  const { data: change, error } = ChangeLine.safeParse(jsonOf(data.slice('data:'.length)));
  if (error !== undefined) warnOfIgnored(target, error);
  return change;
};

const opened = (target: Target, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    // A connection of its own, because one that is open already has its bounds.
    const bounds = { agent: false as const, readableHighWaterMark: WAITING_BYTES };
    const sent = requestTo(target, { path: '/v1/changes', timeout: SILENT_MS, signal, ...bounds }, (response) => {
      const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      if (response.statusCode === 200 && isStream) return resolve(response);
      response.resume();
      reject(
        new Error(
          `${shownUrl(target)} answered with status ${response.statusCode}, and no stream of changes.${response.statusCode === 401 ? ' Check --token or BREAKERBOX_CONTROL_TOKEN.' : ''}`,
        ),
      );
    });
    sent.on('timeout', () =>
      sent.destroy(
        new Error(
          `${shownUrl(target)} sent nothing for ${SILENT_MS / 1000} s. The process may be stopped, or the network may be down`,
        ),
      ),
    );
    sent.on('error', reject);
    sent.end();
  });
