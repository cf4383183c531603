import { Client, credentials, Server, ServerCredentials, type ServiceError, status } from '@grpc/grpc-js';
import { execa } from 'execa';
import { request } from 'gaxios';
import { describe, expect, it, onTestFinished } from 'vitest';
import { categoryOf, failingUrl, refusedUrl } from '../../test-support/classify/failing.ts';

const OFF = { retry: false } as const;

describe('O2: gaxios, which the clients of Google use', () => {
  it('O2: its own timeout and that of a signal are timeouts; an abort is cancelled; a status keeps its category', async () => {
    const url = await failingUrl();
    expect(await categoryOf(() => request({ url: `${url}/hang`, timeout: 50, ...OFF }))).toBe('timeout');
    const signal = AbortSignal.timeout(50);
    expect(await categoryOf(() => request({ url: `${url}/hang`, signal, ...OFF }))).toBe('timeout');
    expect(await categoryOf(() => request({ url: `${url}/hang`, signal: AbortSignal.abort(), ...OFF }))).toBe(
      'cancelled',
    );
    expect(await categoryOf(() => request({ url: `${url}/404`, ...OFF }))).toBe('invalid_input');
    expect(await categoryOf(() => request({ url: `${url}/503`, timeout: 60_000, ...OFF }))).toBe('server');
    expect(await categoryOf(async () => request({ url: await refusedUrl(), ...OFF }))).toBe('network');
  });
});

describe('O2: execa, whose messages begin with the command line', () => {
  it('O2: a search term is not an outage; the output of the command may be one', async () => {
    expect(await categoryOf(() => execa('grep', ['ECONNREFUSED', '/dev/null']))).toBe('unknown');
    expect(await categoryOf(() => execa('grep', ['read timed out', '/dev/null']))).toBe('unknown');
    expect(await categoryOf(() => execa('sh', ['-c', 'echo connect ECONN"REFUSED" >&2; exit 1']))).toBe('network');
    expect(await categoryOf(() => execa('breakerbox-nowhere', ['ECONNREFUSED']))).toBe('filesystem');
  });

  it('O2: its timeout, and a cancelled command', async () => {
    expect(await categoryOf(() => execa('sleep', ['600'], { timeout: 50 }))).toBe('timeout');
    const cancelSignal = AbortSignal.abort();
    expect(await categoryOf(() => execa('sleep', ['600'], { cancelSignal }))).toBe('cancelled');
  });
});

describe('O2: gRPC', () => {
  const bytes = (value: Buffer) => value;
  const method = {
    path: '/library/Get',
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };

  /** Calls a server that answers with the status, and rejects with what the client makes of it. */
  async function call(code: number | 'hang', details: string, use?: 'cancel'): Promise<unknown> {
    const server = new Server();
    server.addService(
      { get: method },
      {
        get: (_: unknown, answer: (error: object) => void) => code !== 'hang' && answer({ code, details }),
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, found: number) => (error ? reject(error) : resolve(found));
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), bound);
    });
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    onTestFinished(() => {
      client.close();
      server.forceShutdown();
    });
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + (code === 'hang' && !use ? 100 : 60_000);
      const done = (error: ServiceError | null, value?: Buffer) => (error ? reject(error) : resolve(value));
      const running = client.makeUnaryRequest('/library/Get', bytes, bytes, Buffer.alloc(1), { deadline }, done);
      if (use) setImmediate(() => running.cancel());
    });
  }

  it('O2: server statuses, a deadline and a cancelled call', async () => {
    expect(await categoryOf(() => call(status.NOT_FOUND, 'no document users/42'))).toBe('invalid_input');
    expect(await categoryOf(() => call(status.INVALID_ARGUMENT, 'the deadline exceeded the bound'))).toBe(
      'invalid_input',
    );
    expect(await categoryOf(() => call(status.UNAVAILABLE, 'going away'))).toBe('network');
    expect(await categoryOf(() => call(status.UNAUTHENTICATED, 'who are you'))).toBe('permission');
    expect(await categoryOf(() => call(status.DATA_LOSS, 'gone'))).toBe('server');
    expect(await categoryOf(() => call('hang', ''))).toBe('timeout');
    expect(await categoryOf(() => call('hang', '', 'cancel'))).toBe('cancelled');
  });
});
