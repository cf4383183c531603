import { execFileSync, spawnSync } from 'node:child_process';
import dns from 'node:dns/promises';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, Client, ProxyAgent, request, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { axios, categoryOf, failingUrl, get, listen, needs, refusedUrl } from '../../test-support/classify/failing.ts';

/** The ways in which tools call a URL. Each reads the body too. */
const CALLS: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
  ['fetch', async (url) => (await fetch(url)).text()],
  ['undici fetch', async (url) => (await undiciFetch(url)).text()],
  ['undici request', async (url) => (await request(url)).body.text()],
  ['node:http', async (url) => (await get(url)).toArray()],
  ['axios', (url) => axios.get(url)],
  ['axios over fetch', (url) => axios.get(url, { adapter: 'fetch' })],
];

describe('O2: real connections that fail', () => {
  it.each(CALLS)('O2: refused, by %s', async (_, call) => {
    const url = await refusedUrl();
    expect(await categoryOf(() => call(url))).toBe('network');
  });

  it.each(CALLS)('O2: a peer that closes the connection, before and during the answer, by %s', async (_, call) => {
    const url = await failingUrl();
    expect(await categoryOf(() => call(`${url}/drop`))).toBe('network');
    expect(await categoryOf(() => call(`${url}/cut`))).toBe('network');
  });

  it.each(CALLS)('O2: reset by the peer, by %s', async (_, call) => {
    const port = await listen(net.createServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    expect(await categoryOf(() => call(`http://127.0.0.1:${port}`))).toBe('network');
  });

  it.each(CALLS)('O2: a name that does not exist (or no resolver to ask), by %s', async (_, call) => {
    expect(await categoryOf(() => call('http://breakerbox.invalid'))).toBe('network');
  });

  it('O2: a name that does not exist, by node:dns and by node:net', async () => {
    expect(await categoryOf(() => dns.lookup('breakerbox.invalid'))).toBe('network');
    const connecting = () =>
      new Promise((resolve, reject) => {
        net.connect({ host: 'breakerbox.invalid', port: 1 }, () => resolve('connected')).on('error', reject);
      });
    expect(await categoryOf(connecting)).toBe('network');
  });

  it.each(CALLS)('O2: a peer that does not speak HTTP, by %s', async (_, call) => {
    const port = await listen(net.createServer((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n'))));
    expect(await categoryOf(() => call(`http://127.0.0.1:${port}`))).toBe('network');
  });

  it('O2: an undici client that was closed or destroyed', async () => {
    const client = new Client(await failingUrl());
    const waiting = categoryOf(() => client.request({ method: 'GET', path: '/hang' }));
    await client.destroy();
    expect(await waiting).toBe('network');
    expect(await categoryOf(() => client.request({ method: 'GET', path: '/503' }))).toBe('network');
  });

  it.each([
    [502, 'server'],
    [407, 'permission'],
    [504, 'timeout'],
    [404, 'network'],
  ])('O2: a proxy that rejects the tunnel with %i, which undici calls an AbortError', async (status, wanted) => {
    const proxy = http.createServer().on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    const dispatcher = new ProxyAgent(`http://127.0.0.1:${await listen(proxy)}`);
    onTestFinished(() => dispatcher.destroy());
    expect(await categoryOf(() => request('https://breakerbox.invalid', { dispatcher }))).toBe(wanted);
    expect(await categoryOf(() => undiciFetch('https://breakerbox.invalid', { dispatcher }))).toBe(wanted);
  });

  it('O2: a proxy that refuses the connection', async () => {
    const dispatcher = new ProxyAgent(await refusedUrl());
    onTestFinished(() => dispatcher.destroy());
    expect(await categoryOf(() => undiciFetch('https://breakerbox.invalid', { dispatcher }))).toBe('network');
  });
});

describe('O2: real timeouts of connections', () => {
  const impatient = () => {
    const agent = new Agent({ headersTimeout: 20, bodyTimeout: 20 });
    onTestFinished(() => agent.destroy());
    return agent;
  };

  it('O2: undici: a timeout of headers, a timeout of the body', async () => {
    const url = await failingUrl();
    const dispatcher = impatient();
    expect(await categoryOf(() => request(`${url}/hang`, { dispatcher }))).toBe('timeout');
    expect(await categoryOf(() => undiciFetch(`${url}/hang`, { dispatcher }))).toBe('timeout');
    const body = async () => (await request(`${url}/half`, { dispatcher })).body.text();
    expect(await categoryOf(body)).toBe('timeout');
    const fetched = async () => (await undiciFetch(`${url}/half`, { dispatcher })).text();
    expect(await categoryOf(fetched)).toBe('timeout');
  });

  it('O2: a connection timeout: a TLS peer that never shakes hands', async () => {
    const port = await listen(net.createServer(() => undefined));
    const dispatcher = new Agent({ connectTimeout: 20 });
    onTestFinished(() => dispatcher.destroy());
    expect(await categoryOf(() => request(`https://127.0.0.1:${port}`, { dispatcher }))).toBe('timeout');
    expect(await categoryOf(() => undiciFetch(`https://127.0.0.1:${port}`, { dispatcher }))).toBe('timeout');
  });

  it('O2: axios, whose timeout code also means a broken connection, and axios over fetch', async () => {
    const url = await failingUrl();
    expect(await categoryOf(() => axios.get(`${url}/hang`, { timeout: 20 }))).toBe('timeout');
    expect(await categoryOf(() => axios.get(`${url}/hang`, { timeout: 20, adapter: 'fetch' }))).toBe('timeout');
  });
});

describe('O2: real TLS failures', () => {
  /** Where CI has no openssl the tests fail: it can be installed there. */
  const openssl = process.env.CI !== undefined || spawnSync('openssl', ['version']).status === 0;

  /** A certificate signed by itself. */
  function selfSigned() {
    const folder = mkdtempSync(join(tmpdir(), 'breakerbox-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const names = ['-subj', '/CN=breakerbox.invalid', '-days', '2', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...request, ...names], { stdio: 'ignore' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  }

  it('O2: a certificate of an unknown authority', async (context) => {
    needs(context, openssl, 'openssl');
    const port = await listen(https.createServer(selfSigned(), (_, response) => response.end('hello')));
    for (const [, call] of CALLS.filter(([name]) => name !== 'node:http')) {
      expect(await categoryOf(() => call(`https://127.0.0.1:${port}`))).toBe('network');
    }
  });

  it('O2: a certificate of another host', async (context) => {
    needs(context, openssl, 'openssl');
    const pair = selfSigned();
    const port = await listen(https.createServer(pair, (_, response) => response.end('hello')));
    const dispatcher = new Agent({ connect: { ca: pair.cert } });
    onTestFinished(() => dispatcher.destroy());
    expect(await categoryOf(() => request(`https://127.0.0.1:${port}`, { dispatcher }))).toBe('network');
  });

  it('O2: TLS to a peer that does not speak it', async () => {
    const url = (await failingUrl()).replace('http:', 'https:');
    expect(await categoryOf(() => fetch(url))).toBe('network');
    expect(await categoryOf(() => axios.get(url))).toBe('network');
  });
});
