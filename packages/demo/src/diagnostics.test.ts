import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { diagnosticLine, lineLogger, printDiagnostics } from './diagnostics.ts';
import { createJournal } from './journal.ts';
import { openOutput } from './output.ts';

const refused = (port: number): string =>
  JSON.stringify({
    stack: `Error: connect ECONNREFUSED 127.0.0.1:${port}\n    at TCPConnectWrap.afterConnect (node:net:1:1)`,
    message: `connect ECONNREFUSED 127.0.0.1:${port}`,
    code: 'ECONNREFUSED',
    name: 'Error',
  });

afterEach(() => {
  diag.disable();
  vi.restoreAllMocks();
});

describe('one short line of', () => {
  test.each<[string, readonly unknown[], string]>([
    ["an exporter's JSON", [refused(4318)], 'connect ECONNREFUSED 127.0.0.1:4318'],
    ['JSON without a message', ['{"message":"","code":"ECONNREFUSED","name":"AggregateError"}'], 'ECONNREFUSED'],
    ['what only looks like JSON', ['{oops'], '{oops'],
    ['text and an error', ['the scrape failed', new TypeError('no such\n thing')], 'the scrape failed: no such thing'],
    ['an error whose code is not in its message', [Object.assign(new Error('no'), { code: 14 }), ''], 'no'],
    ['the same with a code of letters', [Object.assign(new Error('no'), { code: 'ENO' })], 'no (ENO)'],
    ['an object', [{ dropped: 3 }], '{ dropped: 3 }'],
    ['nothing', [undefined, null], 'undefined: null'],
    ['our own', ['Breakerbox telemetry: lost'], 'lost'],
  ])('%s', (_, args, line) => {
    expect(diagnosticLine(args)).toBe(line);
  });

  test('something endless', () => {
    expect(diagnosticLine(['x'.repeat(5000)])).toHaveLength(300);
  });
});

test('prints similar lines once in 10 s with the number of skipped ones, and other lines at once', () => {
  const recorded: string[] = [];
  let nowMs = 0;
  const logger = lineLogger(
    (line) => recorded.push(line),
    () => nowMs,
  );
  for (; nowMs < 10_000; nowMs += 1000) logger.error(refused(4318 + nowMs));
  expect(recorded).toEqual(['connect ECONNREFUSED 127.0.0.1:4318']);
  logger.error('something else');
  logger.error(refused(9));
  expect(recorded.slice(1)).toEqual([
    'something else',
    'connect ECONNREFUSED 127.0.0.1:9 (and 9 more like it since the last such line)',
  ]);
});

test('prints warnings and errors, and leaves logging to startTelemetry() if OTEL_LOG_LEVEL is set', () => {
  const recorded: string[] = [];
  printDiagnostics((line) => recorded.push(line), { OTEL_LOG_LEVEL: 'debug' });
  diag.error('not for us');
  printDiagnostics((line) => recorded.push(line), { OTEL_LOG_LEVEL: ' ' });
  diag.info('too much');
  diag.warn('a warning');
  diag.error('an error');
  expect(recorded).toEqual(['a warning', 'an error']);
});

describe('the output shows diagnostics', () => {
  /** With a terminal or without, and the lines that stderr got. */
  const opened = (isTTY: boolean, json = false) => {
    const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const before = process.stdout.isTTY;
    process.stdout.isTTY = isTTY;
    const journal = createJournal(() => 0);
    const output = openOutput(journal, { json, color: false });
    process.stdout.isTTY = before;
    return { journal, output, stderr: () => err.mock.calls.map(([text]) => text) };
  };
  const status = () => ({
    elapsedMs: 0,
    forMs: undefined,
    round: 1,
    places: { metrics: '', prometheus: '', alertmanager: '', console: '' },
    agents: [],
    alerts: [],
    deliveries: 0,
    entries: [],
  });

  test.each([false, true])('on stderr if there is no view (json: %s)', (json) => {
    const { output, stderr } = opened(false, json);
    output.diagnostic('refused');
    expect(stderr()).toEqual(['breakerbox demo: telemetry: refused\n']);
  });

  test('among the events while the view is up, and on stderr before and after it', () => {
    // color: false, so that the demo does not query the terminal for its colours.
    const { journal, output, stderr } = opened(true);
    output.diagnostic('before');
    output.begin(status);
    output.diagnostic('meanwhile');
    output.restore();
    output.diagnostic('after');
    expect(journal.entries.map(({ who, text }) => `${who}: ${text}`)).toEqual([
      'telemetry: before',
      'telemetry: meanwhile',
      'telemetry: after',
    ]);
    expect(stderr()).toEqual(['breakerbox demo: telemetry: before\n', 'breakerbox demo: telemetry: after\n']);
  });
});
