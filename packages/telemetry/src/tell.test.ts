import { diag } from '@opentelemetry/api';
import { afterEach, expect, test, vi } from 'vitest';
import { tell } from './tell.ts';
import { collectDiag } from './test-support/diag-messages.ts';

afterEach(() => diag.disable());

test('tells the logger of the application', () => {
  const messages = collectDiag();
  tell('warn', 'the port is', 9464);
  expect(messages).toEqual(['the port is 9464']);
});

test('does not mind a logger that throws', () => {
  const broken = vi.fn(() => {
    throw new Error('the logger is broken');
  });
  diag.setLogger({ error: broken, warn: broken, info: broken, debug: broken, verbose: broken });
  tell('error', 'nobody hears');
  expect(broken).toHaveBeenCalledOnce();
});
