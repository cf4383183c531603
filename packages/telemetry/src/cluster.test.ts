import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const SERVER = fileURLToPath(new URL('scrape-server.ts', import.meta.url));

/** Two workers of a cluster open an endpoint at one port. Each prints its URL, or that it has none. */
const program = (port: number): string => `
import cluster from 'node:cluster';
if (cluster.isPrimary) {
  for (let worker = 0; worker < 2; worker += 1) cluster.fork();
  const said = [];
  cluster.on('message', (_, text) => {
    said.push(text);
    if (said.length === 2) { console.log(said.sort().join(' ')); process.exit(); }
  });
} else {
  const { openScrapeServer } = await import(${JSON.stringify(SERVER)});
  const server = openScrapeServer({ host: '127.0.0.1', port: ${port}, endpoint: '/metrics' }, async () => '');
  await server.ready;
  process.send(server.url() ?? 'none');
}`;

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

test('workers of a cluster do not answer for one another: one has the port, the other says that it is taken', async () => {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'cluster.mjs');
  await writeFile(path, program(port));
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=breakerbox-source', path]);
  expect(stdout.trim()).toBe(`http://127.0.0.1:${port}/metrics none`);
});
