import { type DiagLogger, diag } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepingLogger, showDiagnostics } from './otel-globals.ts';
import { collectDiag } from './test-support/diag-messages.ts';

const LEVELS = ['error', 'warn', 'info', 'debug', 'verbose'] as const satisfies (keyof DiagLogger)[];

let written: string[] = [];
const take = (...words: unknown[]): void => void written.push(words.join(' '));
const logger: DiagLogger = { error: take, warn: take, info: take, debug: take, verbose: take };

beforeEach(() => {
  written = [];
  diag.disable();
});
afterEach(() => {
  diag.disable();
  vi.unstubAllEnvs();
});

const tellAll = (): string[] => {
  written = [];
  for (const level of LEVELS) diag[level](level);
  return written;
};

test.each<[string | undefined, number]>([
  [undefined, 2],
  [' ', 2],
  ['none', 0],
  ['error', 1],
  ['WARN', 2],
  ['Info', 3],
  ['debug', 4],
  ['verbose', 5],
  ['all', 5],
])('OTEL_LOG_LEVEL=%s logs %i levels', (level, count) => {
  showDiagnostics({ OTEL_LOG_LEVEL: level }, logger);
  expect(tellAll()).toEqual(LEVELS.slice(0, count));
});

test.each(['loud', 'constructor', '50'])('OTEL_LOG_LEVEL=%s is reported, and warn is used', (level) => {
  showDiagnostics({ OTEL_LOG_LEVEL: level }, logger);
  expect(written).toEqual([
    expect.stringContaining(`OTEL_LOG_LEVEL is "${level}", which is not a level, so warn is used.`),
  ]);
  expect(tellAll()).toHaveLength(2);
});

test("nor the application's, even if nothing can be made", () => {
  vi.stubEnv('OTEL_LOG_LEVEL', 'debug');
  const messages = collectDiag();
  showDiagnostics(process.env, logger);
  const make = (): never => {
    new NodeSDK();
    throw new Error('cannot be made');
  };
  expect(() => keepingLogger(make)).toThrow('cannot be made');
  expect(process.env.OTEL_LOG_LEVEL).toBe('debug');
  diag.warn('for the application');
  diag.info('too much for it');
  expect([messages, written]).toEqual([['for the application'], []]);
});
