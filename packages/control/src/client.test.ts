import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeServer, listening } from '@breakerbox/listen';
import { expect, onTestFinished, test } from 'vitest';
import { perform, readChanges, readState } from './client.ts';
import { readShare } from './control-client.ts';

const STATE = { pid: 1, startedUnixMs: 1, role: 'view', boxes: [] };

/** An endpoint that closes the first connections without an answer. */
const closing = async (first: number) => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked <= first) return void request.socket.destroy();
    response.setHeader('connection', 'close').end(JSON.stringify(STATE));
  });
  onTestFinished(() => closeServer(server));
  const { port } = (await listening(server, { port: 0, host: '127.0.0.1' })) as { readonly port: number };
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
};

test('A7: a read whose connection is closed is asked for again, twice at most', async () => {
  const twice = await closing(2);
  expect(await readState(twice)).toEqual(STATE);
  const always = await closing(Number.POSITIVE_INFINITY);
  await expect(readState(always)).rejects.toThrow('no valid answer');
  expect(always.asked()).toBe(3);
});

test('A7: an action is asked for once, because it may have been carried out', async () => {
  const once = await closing(1);
  const action = { action: 'force_open', agent: 'a', tool: 't', reason: 'r', expiresInMs: 1_000 } as const;
  await expect(perform(once, action)).rejects.toThrow('no valid answer');
  expect(once.asked()).toBe(1);
});

const SESSION = { id: 's', ageMs: 1, state: 'active', step: 1, budget: { limit: 1, remaining: 1, cycle: 1 } };
const CIRCUIT = { tool: 't', state: 'open', generation: 1, failures: 1, openKeys: 0 };
/** An answer with one session that has these circuits, as JSON. */
const withCircuits = (circuits: string): string =>
  JSON.stringify({
    ...STATE,
    boxes: [
      { agent: 'a', version: 0, tools: [], modes: [], sessions: [{ ...SESSION, circuits: 0 }], sessionsLeftOut: 0 },
    ],
  }).replace('"circuits":0', `"circuits":[${circuits}]`);

const answering = async (text: string) => {
  const server = createServer((_, response) => void response.end(text));
  onTestFinished(() => closeServer(server));
  const { port } = (await listening(server, { port: 0, host: '127.0.0.1' })) as { readonly port: number };
  return { url: `http://127.0.0.1:${port}` };
};

test('A7: of 300,000 elements that do not fit, a few are looked at and the rest of the answer counts', async () => {
  const good = JSON.stringify(CIRCUIT);
  const { boxes } = await readState(await answering(withCircuits(`${good},${'1,'.repeat(300_000)}1`)));
  expect(boxes[0]?.sessions).toEqual([{ ...SESSION, circuits: [CIRCUIT] }]);
});

test('A7: an answer that is too large, too deep or has too many values is an error that says so', async () => {
  const deep = JSON.stringify({ ...CIRCUIT, nextProbe: { a: 0 } }).replace(
    '0}}',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
  );
  await expect(readState(await answering(withCircuits(deep)))).rejects.toThrow(
    'nested more than 32 deep. Check the address',
  );
  await expect(readState(await answering(withCircuits(`${'1,'.repeat(1_000_000)}1`)))).rejects.toThrow('400000 values');
  await expect(readState(await answering(' '.repeat(7_000_000)))).rejects.toThrow(
    'more than 6 MB. Ask for one session',
  );
});

test('A7: no field of an answer holds what its schema does not name', async () => {
  const circuit = JSON.stringify({ ...CIRCUIT, nextProbe: { steps: 2, a: [[[1]]] } });
  const { boxes } = await readState(await answering(withCircuits(circuit)));
  expect(boxes[0]?.sessions[0]?.circuits).toEqual([{ ...CIRCUIT, nextProbe: { steps: 2 } }]);
});

test('A7: a list that is too long is cut', async () => {
  const { boxes } = await readState(
    await answering(withCircuits(`${JSON.stringify(CIRCUIT)},`.repeat(20_000).slice(0, -1))),
  );
  expect(boxes[0]?.sessions[0]?.circuits).toHaveLength(10_000);
});

test('A7: many endpoints share a room, and what is beyond it is counted as left out', async () => {
  const many = JSON.parse(withCircuits('')) as { boxes: { sessions: unknown[] }[] };
  many.boxes[0]?.sessions.push(
    ...Array.from({ length: 400 }, (_, index) => ({ ...SESSION, id: `s${index}`, circuits: [] })),
  );
  const { result } = await readShare(await answering(JSON.stringify(many)), undefined, 4_000);
  const [box] = result.boxes;
  expect(box?.sessions.length).toBeGreaterThan(50);
  expect(box?.sessions.length).toBeLessThan(300);
  expect((box?.sessions.length ?? 0) + (box?.sessionsLeftOut ?? 0)).toBe(401);
});

test('A7: an action has a connection of its own, because a kept one may have been closed', async () => {
  const ports: (number | undefined)[] = [];
  const server = createServer((request, response) => {
    ports.push(request.socket.remotePort);
    request.resume();
    response.end(JSON.stringify(request.method === 'GET' ? STATE : { result: 'done', message: 'm', boxes: [] }));
  });
  onTestFinished(() => closeServer(server));
  const { port } = (await listening(server, { port: 0, host: '127.0.0.1' })) as { readonly port: number };
  const target = { url: `http://127.0.0.1:${port}` };
  await readState(target);
  await perform(target, { action: 'release', agent: 'a', tool: 't' });
  expect(new Set(ports).size).toBe(2);
});

/** An endpoint that writes this to each connection, as often as it is taken. */
const writing = async (first: string, again: string, path?: string) => {
  let taken = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(first);
      const more = (): void => {
        taken = socket.bytesWritten - socket.writableLength;
        if (!socket.destroyed) socket.write(again, () => setImmediate(more));
      };
      more();
    });
  });
  onTestFinished(() => void server.close());
  const address = await listening(server, path === undefined ? { port: 0, host: '127.0.0.1' } : { path });
  return {
    url: typeof address === 'string' ? `unix:${address}` : `http://127.0.0.1:${address?.port}`,
    taken: () => taken,
  };
};

test('A7: an answer in parts of one byte is refused long before its parts fill the memory', async () => {
  const endless = await writing('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\n \r\n'.repeat(10_000));
  await expect(readState(endless)).rejects.toThrow('too many small parts');
});

test('A7: interim answers without end are refused', async () => {
  const early = await writing('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100));
  await expect(readState(early)).rejects.toThrow('more than 10 interim answers');
  const changes = readChanges(early, AbortSignal.timeout(30_000));
  await expect(changes[Symbol.asyncIterator]().next()).rejects.toThrow('more than 10 interim answers');
});

test('A7: an endpoint that switches to another protocol has given no answer', async () => {
  const other = await writing('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n', '');
  await expect(readState(other)).rejects.toThrow('switches to another protocol');
  await expect(perform(other, { action: 'release', agent: 'a', tool: 't' })).rejects.toThrow('another protocol');
  const changes = readChanges(other, AbortSignal.timeout(30_000));
  await expect(changes[Symbol.asyncIterator]().next()).rejects.toThrow('another protocol');
});

test('A7: of a stream of changes in chunks of one byte, little is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const endless = await writing(head, '1\r\n\n\r\n'.repeat(10_000), join(folder, 'a.sock'));
  const changes = readChanges(endless, AbortSignal.timeout(2_000));
  await expect(changes[Symbol.asyncIterator]().next()).rejects.toThrow('aborted');
  expect(endless.taken()).toBeLessThan(600_000);
});
