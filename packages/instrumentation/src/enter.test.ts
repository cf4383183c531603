import {
  type Context,
  type ContextManager,
  context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

const broken = new Error('no context for you');
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const reported = vi.fn();

/** Registers a context manager whose `with` does as it is told. */
const manage = (enter: (part: () => unknown) => unknown, active = () => ROOT_CONTEXT): void => {
  const manager: ContextManager = {
    active,
    with: ((_: Context, part: () => unknown) => enter(part)) as ContextManager['with'],
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
};

const managers: [string, Parameters<typeof manage>][] = [
  [
    'throws before it runs the part',
    [
      () => {
        throw broken;
      },
    ],
  ],
  [
    'throws after it has run the part',
    [
      (part) => {
        part();
        throw broken;
      },
    ],
  ],
  [
    'does not know the active context',
    [
      (part) => part(),
      () => {
        throw broken;
      },
    ],
  ],
];

beforeEach(() => {
  reported.mockReset();
  const ignore = () => {};
  const logger = { error: reported, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  trace.setGlobalTracerProvider(new TracerProvider()); // Without a span there is no context to enter.
});

afterEach(() => {
  trace.disable();
  context.disable();
  diag.disable();
});

test.each(managers)(
  'with a context manager that %s, the tool runs once and is settled by its own result',
  async (_, how) => {
    const { session, outcomes } = watchedSession();
    manage(...how);
    const run = vi.fn(() => 'found');
    expect(await guard(session, 'search', run)(1)).toBe('found');
    const failing = vi.fn(() => {
      throw refused;
    });
    await expect(guard(session, 'search', failing)(1)).rejects.toBe(refused);
    expect([run, failing].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    expect(outcomes).toEqual(['search: success', 'search: failure, network']);
    // One that can't say which context is active leaves the decision without a span, and nothing to enter.
    expect(reported).toHaveBeenCalledWith(expect.stringMatching(/(tracer|context manager) failed/), broken);
  },
);

test.each<[string, Parameters<typeof manage>[0]]>([
  [
    'twice',
    (part) => {
      part();
      return part();
    },
  ],
  ['only later', (part) => queueMicrotask(() => void part())],
])('with a context manager that runs its part %s, the tool runs once', async (_, how) => {
  const { session, outcomes } = watchedSession();
  manage(how);
  const run = vi.fn(() => 'found');
  expect(await guard(session, 'search', run)(1)).toBe('found');
  expect(run).toHaveBeenCalledOnce();
  expect(outcomes).toEqual(['search: success']);
});

test('without a span, no context manager is called', async () => {
  trace.disable();
  const { session } = watchedSession();
  const enter = vi.fn((part: () => unknown) => part());
  manage(enter);
  expect(await guard(session, 'search', () => 'found')(1)).toBe('found');
  expect(enter).not.toHaveBeenCalled();
});
