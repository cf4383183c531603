import { DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { reportThrown } from './safely.ts';

const logged: string[] = [];
const logTo = (): void => {
  logged.length = 0;
  const log = (message: string): void => void logged.push(message);
  diag.setLogger(
    { error: log, warn: log, info: log, debug: log, verbose: log },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
};
afterEach(() => diag.disable());

test('E5: a tool’s name adds no line to the log, and moves no cursor', () => {
  logTo();
  const tool = 'search\n2026-11-21T00:00:00Z CRITICAL forged\r\u2028\u202e\x1b[2J';
  const classify = (): never => {
    throw new Error('mine');
  };
  const session = createBreakerbox({ agent: 'tester', tools: { [tool]: { classify } } }).session();
  session.acquire(tool).settle({ error: new Error('503') });
  expect(logged).toEqual([
    "Breakerbox: the classifier of tool 'search\\n2026-11-21T00:00:00Z CRITICAL forged\\r\\u2028\\u202e\\x1b[2J' failed. Breakerbox ignores this error, and the program continues.",
  ]);
});

test('E5: an ordinary tool name is logged unchanged', () => {
  logTo();
  reportThrown("tokens() of tool 'wetter-für-morgen 🌦️'", new Error('mine'));
  expect(logged).toEqual([
    "Breakerbox: tokens() of tool 'wetter-für-morgen 🌦️' failed. Breakerbox ignores this error, and the program continues.",
  ]);
});
