/** `breakerbox mcp https://…` behind a forward proxy. The names of the servers exist only for the proxy. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { callOf, PATIENT, piped, textIn } from './mcp-relay-pipes.ts';

/** Answers each message with its own text, after a wait that its path names. */
const answers: RequestListener = async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const { id } = JSON.parse(body);
  await after(Number(/wait=(\d+)/.exec(request.url ?? '')?.[1] ?? 0));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: body }] } }));
};

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** A proxy for which each name is the server on a port of this machine. */
const proxied = async (port: number, credentials = '') => {
  const seen: string[] = [];
  const isWelcome = (given: string | undefined): boolean =>
    given === (credentials && `Basic ${Buffer.from(credentials).toString('base64')}`) || credentials === '';
  const proxy = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    if (!isWelcome(incoming.headers['proxy-authorization'])) return void outgoing.writeHead(407).end();
    const { pathname, search } = new URL(incoming.url ?? '');
    const { method, headers } = incoming;
    const on = request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(outgoing);
    });
    on.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(on);
  });
  const sockets = new Set<{ destroy(): unknown }>();
  proxy.on('connect', ({ method, url, headers }, client) => {
    seen.push(`${method} ${url}`);
    if (!isWelcome(headers['proxy-authorization'])) return void client.end('HTTP/1.1 407 No\r\n\r\n');
    const server = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    server.on('error', () => client.end('HTTP/1.1 502 No\r\n\r\n'));
    client.on('error', () => server.destroy());
    sockets.add(server).add(client);
    server.pipe(client).pipe(server);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const at = await listening(proxy);
  return { seen, url: `http://${credentials && `${credentials}@`}127.0.0.1:${at}` };
};

/** The machine that runs the tests may have variables of its own. */
const NONE = { HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '', http_proxy: '', https_proxy: '', no_proxy: '' };

const started = (url: string, env: Record<string, string>) => {
  const relay = piped([url], { ...NONE, ...env });
  onTestFinished(() => void relay.child.kill('SIGKILL'));
  const call = async (id: number): Promise<string> => {
    relay.send(callOf(id, 'a', { id }));
    return textIn(await relay.line(id - 1));
  };
  return { ...relay, call };
};

const secureServer = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-proxy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=mcp', '-addext', 'subjectAltName=DNS:mcp.example.invalid'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-days', '2', ...files], { stdio: 'ignore' });
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, answers);
  return { port: await listening(server), cert };
};

test('M1: a server behind plain HTTP and a proxy that wants a password', async () => {
  const { seen, url } = await proxied(await listening(createServer(answers)), 'me:secret');
  const { call } = started('http://mcp.example.invalid/mcp?a=b', { HTTP_PROXY: url });
  expect(await call(1)).toContain('"id":1');
  expect(await call(2)).toContain('"id":2');
  expect(seen).toEqual(['POST http://mcp.example.invalid/mcp?a=b', 'POST http://mcp.example.invalid/mcp?a=b']);
});

test('M1: a server behind HTTPS and a proxy; a call may take long, and the tunnel is used again', async () => {
  const { port, cert } = await secureServer();
  const { seen, url } = await proxied(port);
  const env = { https_proxy: url.replace('http://', ''), NODE_EXTRA_CA_CERTS: cert };
  const { call } = started('https://mcp.example.invalid/mcp?wait=7000', env);
  expect(await call(1)).toContain('"id":1');
  expect(await call(2)).toContain('"id":2');
  // One for both calls, and one for the ping during the first (M6).
  expect(seen).toEqual(Array(2).fill('CONNECT mcp.example.invalid:443'));
});

test('M1: NO_PROXY and servers on this machine', async () => {
  const port = await listening(createServer(answers));
  const { seen, url } = await proxied(port);
  const env = { HTTP_PROXY: url, NO_PROXY: '.other.invalid,.example.invalid' };
  expect(await started('http://mcp.example.invalid/mcp', env).call(1)).toMatch(/failed \((ENOTFOUND|EAI_AGAIN)\)/);
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await started(`http://${host}:${port}/mcp`, { HTTP_PROXY: url }).call(1)).toContain('"id":1');
  expect(seen).toEqual([]);
});

test('M3: a proxy that rejects the tunnel is a failure of the server', async () => {
  const { url } = await proxied(1);
  const { call, child } = started('https://mcp.example.invalid/mcp', { HTTPS_PROXY: url });
  expect(await call(1)).toMatch(
    /The connection to the MCP server \(mcp\.example\.invalid\) failed \(ERR_PROXY_TUNNEL\)/,
  );
  expect(await call(2)).toMatch(/^Tool 'a' is unavailable/);
  child.stdin?.end();
  await expect.poll(() => child.exitCode, PATIENT).toBe(0);
});
