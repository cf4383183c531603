/**
 * A control API, and a client of one, of which every field may be anything. The promise: a healthy tool is called, an operator's valid action
 * works right after, no process ends, and nothing comes back that a terminal would obey.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { startControl } from '@breakerbox/control';
import { ControlError, perform, readChanges, readReport, readState, type Target } from '@breakerbox/control/client';
import { startConsole } from '@breakerbox/control/console';
import { createBreakerbox } from '@breakerbox/core';
import { ctlCommand } from '../../packages/cli/src/ctl/ctl-command.ts';
import { runCommand } from '../../packages/cli/src/test-support-command.ts';

/** What is sent, one after the other: where to, and the text. */
export type Sent = readonly (readonly [field: string, value: string])[];

const AGENT = 'fuzz';
const OPERATOR = 'operator';
const SESSION = 'run';
/** An endpoint or a client that takes longer than its own limits hangs. */
const MOST_MS = 20_000;
/** What JSON, and a stream of it, must not hold as it is. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

interface Answer {
  readonly status: number;
  readonly text: string;
}

const check = (holds: boolean, promise: string, shown: unknown): void => {
  if (!holds) throw new Error(`does not hold: ${promise}. ${JSON.stringify(shown)}`);
};

/** Node sends no header with other characters. */
const headerText = (text: string): string => text.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '?');

/** One request. The answer of a stream is its first part. */
const ask = (socketPath: string, path: string, headers: Readonly<Record<string, string>>, body?: string) =>
  new Promise<Answer | undefined>((resolve) => {
    const size = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { socketPath, path, method: body === undefined ? 'GET' : 'POST', agent: false, timeout: MOST_MS };
    const sent = request({ ...options, headers: { host: 'localhost', ...size, ...headers } }, (response) => {
      const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      let text = '';
      const end = (): void => {
        resolve({ status: response.statusCode ?? 0, text });
        sent.destroy();
      };
      response.setEncoding('utf8').on('error', end).on('end', end);
      response.on('data', (part: string) => {
        text += part;
        if (isStream) end();
      });
    });
    sent.on('timeout', () => sent.destroy()).on('error', () => resolve(undefined)); // The endpoint may hang up on garbage.
    sent.end(body);
  });

/** The request that one field is of. */
const send = (socket: string, field: string, value: string): Promise<Answer | undefined> => {
  const query = encodeURIComponent(Buffer.from(value).toString()); // Without halves of characters, which have no encoding.
  if (field === 'body') return ask(socket, '/v1/actions', { 'breakerbox-user': 'garbage' }, value);
  if (field === 'session') return ask(socket, `/v1/state?session=${query}`, {});
  if (field === 'report') return ask(socket, `/v1/report?agent=${query}&session=${query}`, {});
  if (field === 'path') return ask(socket, `/${query}`, {});
  return ask(socket, '/v1/actions', { [field]: headerText(value) }, '{}');
};

const checkAnswer = ({ status, text }: Answer): void => {
  check(status >= 200 && status < 500, 'no request fails inside', { status, text });
  check(!OBEYED.test(text.replaceAll('\n', '')), 'no raw control characters come back', text);
};

/** Reads what another endpoint answers in every way that the client has. */
const readAll = async (target: Target): Promise<void> => {
  const action = { action: 'release', agent: AGENT, tool: 'dead' } as const;
  const reads = [readState(target), readReport(target, AGENT, SESSION), perform(target, action)];
  for (const read of await Promise.allSettled(reads))
    check(read.status === 'fulfilled' || read.reason instanceof ControlError, 'a client says what is wrong', read);
  try {
    for await (const { kind } of readChanges(target, AbortSignal.timeout(MOST_MS)))
      check(typeof kind === 'string', 'a change has a kind', kind);
  } catch (error) {
    if (!String(error).includes('sent an event of more than')) throw error;
  }
};

/** Another endpoint, which answers every request with one text: one for all inputs, because a client warns once for each address. */
const startPretender = async () => {
  let text = '';
  const answer = ({ url }: IncomingMessage): readonly [string, string] =>
    url === '/v1/changes' ? ['text/event-stream', `data: ${text}\n\n`] : ['application/json', text];
  const server = createServer((incoming, response) => {
    const [type, body] = answer(incoming);
    response.writeHead(200, { 'content-type': type, connection: 'close' }).end(body);
  });
  const folder = await mkdtemp(join(tmpdir(), 'bbx-'));
  const socket = join(folder, 'o.sock');
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    url: `unix:${socket}`,
    read: (next: string): Promise<void> => {
      text = next;
      return readAll({ url: `unix:${socket}` });
    },
    stop: async () => {
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
};

let pretender: ReturnType<typeof startPretender> | undefined;

/** Ends the other endpoint, for a process that goes on. */
export const stopPretender = async (): Promise<void> => {
  await (await pretender)?.stop();
  pretender = undefined;
};

/** What an operator sees and does at another endpoint, with the console and with `ctl`, whatever the pretender answers. */
const checkOthers = async (folder: string, good: string): Promise<void> => {
  const targets = [(await pretender)?.url, good].flatMap((url) => (url === undefined ? [] : [{ url }]));
  const env = { BREAKERBOX_CONTROL: targets.map(({ url }) => url).join() };
  const ctl = (...args: readonly string[]) => runCommand((io) => ctlCommand(io, env), args);
  for (const args of [['list'], ['list', '--json'], ['show', SESSION, '--agent', AGENT]]) {
    const { code, out } = await ctl(...args);
    check(code === 0 && out.includes(SESSION), 'ctl shows the other endpoint', { args, code, out });
  }
  const tools = [AGENT, 'dead'];
  for (const args of [
    ['force-open', ...tools, '--reason', 'r'],
    ['release', ...tools, '--owner', userInfo().username],
  ])
    check(/Applied by 1|circuit of|has ended/.test((await ctl(...args)).out), 'ctl acts on the other endpoint', args);
  await checkConsole(folder, targets, good);
};

const checkConsole = async (folder: string, targets: readonly Target[], good: string): Promise<void> => {
  await writeFile(join(folder, 'index.html'), 'page');
  const { url, close } = await startConsole({ targets, page: folder });
  try {
    const { origin, hash } = new URL(url);
    const post = (path: string, body: object, cookie = '') =>
      fetch(`${origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify(body),
      });
    const token = new URLSearchParams(hash.slice(1)).get('token');
    const [cookie = ''] = (await post('/api/sign-in', { token })).headers.getSetCookie();
    const state = await fetch(`${origin}/api/state`, { headers: { cookie } });
    const { endpoints } = (await state.json()) as { readonly endpoints: readonly { id: string; status: string }[] };
    check(endpoints.find(({ id }) => id === good)?.status === 'answers', 'the console shows the other one', endpoints);
    const action = { action: 'disable', agent: AGENT, tool: 'dead', reason: 'r' };
    const { results } = (await (await post('/api/actions', { action }, cookie)).json()) as {
      readonly results: readonly { readonly endpoint: string; readonly result: string }[];
    };
    check(
      results.some(({ endpoint, result }) => endpoint === good && result === 'done'),
      'the console acts on the other one',
      results,
    );
  } finally {
    await close();
  }
};

/** Plays it. Throws if the promise is broken. */
export const playRequests = async (sent: Sent): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'bbx-'));
  const socket = join(folder, 'c.sock');
  const box = createBreakerbox({ agent: AGENT, tools: { healthy: {}, dead: {} } });
  const control = await startControl({ boxes: [box], listen: { socket } });
  const session = box.session({ id: SESSION });
  const decide = (tool: string): string => {
    const permit = session.acquire(tool);
    if (permit.decision === 'call' || permit.decision === 'probe') permit.settle({ outcome: 'success' });
    return permit.decision;
  };
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => void thrown.push(error);
  process.on('unhandledRejection', onThrown);
  process.on('uncaughtException', onThrown);

  const operate = async (action: object, promise: string): Promise<void> => {
    const body = JSON.stringify({ agent: AGENT, tool: 'healthy', ...action });
    const answer = await ask(socket, '/v1/actions', { 'breakerbox-user': OPERATOR }, body);
    check(answer?.status === 200, promise, answer);
  };
  try {
    for (const [field, value] of sent) {
      if (field === 'answer') {
        pretender ??= startPretender();
        await (await pretender).read(value);
        continue;
      }
      const answer = await send(socket, field, value);
      if (answer !== undefined) checkAnswer(answer);
    }
    if (sent.some(([field]) => field === 'answer')) await checkOthers(folder, control.url);
    check(decide('healthy') === 'call', 'a healthy tool is called', sent);
    await operate({ action: 'force_open', reason: 'maintenance' }, 'a valid action works right after');
    check(decide('healthy') === 'skip', 'it takes effect', sent);
    await operate({ action: 'release' }, 'its release works');
    check(decide('healthy') === 'call', 'the tool is called again', sent);
    for (const path of ['/v1/state', '/v1/changes', `/v1/report?agent=${AGENT}&session=${SESSION}`]) {
      const answer = await ask(socket, path, {});
      check(answer?.status === 200, 'an operator sees all', { path, answer });
      checkAnswer(answer as Answer);
    }
    const audit = await readFile(join(folder, 'audit.jsonl'), 'utf8');
    check(!OBEYED.test(audit.replaceAll('\n', '')), 'no raw control characters are in the audit file', audit);
    check(thrown.length === 0, 'no process ends', thrown.map(String));
  } finally {
    process.off('unhandledRejection', onThrown);
    process.off('uncaughtException', onThrown);
    session.end();
    await control.close();
    await rm(folder, { recursive: true, force: true });
  }
};

/** Fields of an input. All others are ignored. */
const FIELDS = ['body', 'session', 'report', 'path', 'answer', 'breakerbox-user', 'host', 'origin', 'authorization'];

/** An input of the fuzzer: a line for each field, its name and its value. */
export const requestsOf = (text: string): Sent =>
  text.split('\n').flatMap((line) => {
    const field = FIELDS.find((one) => line.startsWith(`${one} `));
    return field === undefined ? [] : [[field, line.slice(field.length + 1)] as const];
  });
