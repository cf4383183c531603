import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { Rejection } from './acquire.ts';
import { guard, ToolUnavailableError } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

const WORDS = /^Tool 'search' is unavailable: the last calls failed \(network\)\. .*Continue without it/;

/** A decision against a call. */
const reject = (): Rejection => {
  const { session } = watchedSession({ defaults: { failureThreshold: 1 } });
  session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  session.declare('search');
  session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  return session.acquire('search') as Rejection;
};

test('tells the model which tool is unavailable, and programs the route', () => {
  const error = new ToolUnavailableError(reject());
  expect(error.message).toMatch(WORDS);
  expect(String(error)).toBe(`ToolUnavailableError: ${error.message}`);
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'ToolUnavailableError',
    code: 'BREAKERBOX_TOOL_UNAVAILABLE',
    tool: 'search',
    decision: 'skip',
    reason: 'open',
    route: { kind: 'defer' },
  });
});

test('has name and message in its stack: alone, as a cause, and before code has read the message', () => {
  expect(new ToolUnavailableError(reject()).stack).toMatch(/^ToolUnavailableError: Tool 'search' is unavailable: .*$/);
  expect(inspect(new ToolUnavailableError(reject()))).toMatch(
    /^\[ToolUnavailableError: Tool 'search' is unavailable.*\] \{/,
  );
  const outer = new Error('the agent gave up', { cause: new ToolUnavailableError(reject()) });
  expect(inspect(outer)).toMatch(/\[cause\]: \[ToolUnavailableError: Tool 'search' is unavailable/);
});

test('accepts an assigned name, as the constructor does if fields are compiled to assignments', () => {
  const made: ToolUnavailableError = Object.create(ToolUnavailableError.prototype);
  Object.assign(made, { name: 'ToolUnavailableError' });
  expect(Object.hasOwn(made, 'name')).toBe(true);
});

test('if the rejection cannot be made, the call rejects with the cause, and does not hang', async () => {
  const permit = {
    decision: 'skip',
    get reason() {
      throw new Error('no reason');
    },
  };
  const session = { acquire: () => permit, declare: () => {} } as never;
  await expect(guard(session, 'search', () => 1)(1)).rejects.toThrow('no reason');
});

test('keeps its message when the session changes, and accepts another one', () => {
  const { session } = watchedSession({ defaults: { failureThreshold: 1 } });
  session.declare('search');
  session.acquire('search').settle({ outcome: 'failure', category: 'network' });
  const error = new ToolUnavailableError(session.acquire('search') as Rejection);
  session.control('search', 'forced_open');
  expect(error.message).toMatch(WORDS);
  error.message = `${error.message} Told twice.`;
  expect(error.message).toMatch(/Told twice\.$/);
});

const looks: readonly [string, (error: ToolUnavailableError) => unknown][] = [
  ['its message', ({ message }) => message],
  ['its stack', ({ stack }) => stack],
  ['what a console shows of it', (error) => inspect(error)],
];

test.each(looks)('behaves like any error once code has read %s, copied with its message too', (_, look) => {
  const error = new ToolUnavailableError(reject());
  look(error);
  const { message } = error;
  expect(Object.getOwnPropertyDescriptor(error, 'message')).toEqual({
    value: expect.stringMatching(WORDS),
    writable: true,
    configurable: true,
    enumerable: false,
  });
  expect(structuredClone(error).message).toBe(message);
  expect(JSON.parse(JSON.stringify(error, Object.getOwnPropertyNames(error)))).toMatchObject({ message });
  expect(new Proxy(error, {}).message).toBe(message);
});

test('has its message, and is the same object, if no code may change it', () => {
  const error = Object.freeze(new ToolUnavailableError(reject()));
  for (let read = 0; read < 2; read += 1) expect(error.message).toMatch(WORDS);
});

test('a clone that is made before the first reading has the message in its stack', () => {
  expect(structuredClone(new ToolUnavailableError(reject())).stack).toMatch(
    /^ToolUnavailableError: Tool 'search' is unavailable/,
  );
});

test('leaves the stacks of other errors alone', () => {
  const limit = Error.stackTraceLimit;
  new ToolUnavailableError(reject());
  expect(Error.stackTraceLimit).toBe(limit);
  expect(new Error('x').stack).toContain('unavailable.test.ts');
});

test('can be made if the stack limit cannot be set', () => {
  const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') as PropertyDescriptor;
  Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: false, configurable: true });
  try {
    expect(new ToolUnavailableError(reject()).message).toMatch(WORDS);
  } finally {
    Object.defineProperty(Error, 'stackTraceLimit', before);
  }
});

test('of a call rejects once its caller listens, without an unhandled rejection', async () => {
  const { session } = watchedSession({ defaults: { failureThreshold: 1 } });
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const search = guard(session, 'search', () => Promise.reject(refused));
  await expect(search()).rejects.toBe(refused);
  const caught = search().catch((error: unknown) => error);
  expect(await caught).toBeInstanceOf(ToolUnavailableError);
});
