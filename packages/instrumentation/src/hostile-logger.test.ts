import { DiagLogLevel, diag } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { breakerTelemetry } from './ai-sdk/breaker-telemetry.ts';
import { guardToolFactory } from './openai-agents/openai-agents.ts';
import { watchedSession } from './test-support/watched-session.ts';

/** An application's logger that breaks at every word. */
const logThrowing = (): readonly unknown[] => {
  const said: unknown[] = [];
  const log = (words: unknown): never => {
    said.push(words);
    throw new Error('the disk of the log is full');
  };
  diag.setLogger(
    { error: log, warn: log, info: log, debug: log, verbose: log },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return said;
};

afterEach(() => diag.disable());

test('E5: a logger that throws does not end a run of an AI SDK that is too old', () => {
  const said = logThrowing();
  const { onStart } = breakerTelemetry(watchedSession().box);
  onStart({ tools: {} });
  expect(said).toContainEqual(expect.stringContaining('an AI SDK before version 7'));
});

test('E5: a logger that throws does not prevent making a tool of OpenAI Agents that the SDK renames', () => {
  const said = logThrowing();
  const made = { name: 'web_search' };
  const guarded = guardToolFactory((_: never) => made, watchedSession().session);
  expect(guarded({ name: 'web-search', execute: () => 'found' } as never)).toBe(made);
  expect(said).toContainEqual(expect.stringContaining("renames tool 'web-search' to 'web_search'"));
});
