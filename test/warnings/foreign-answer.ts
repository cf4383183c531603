import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readState } from '@breakerbox/control/client';

const box = { agent: 'a', version: 0, tools: [], modes: [], sessions: [{ id: 'run-1' }], sessionsLeftOut: 0 };
const state = { pid: 1, startedUnixMs: 0, role: 'view', boxes: [box] };
const server = createServer((_, response) => response.end(JSON.stringify(state))).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
for (let run = 0; run < 2; run += 1)
  await readState({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
server.close();
server.closeAllConnections();
