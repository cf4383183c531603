import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRelayBox } from '../relay-box.ts';

const PAGE = readFileSync(new URL('../../../../../docs/without-code.md', import.meta.url), 'utf8');

test('the page shows what the model reads', () => {
  const { session } = createRelayBox({ agent: 'mcp' });
  session.declare('query');
  for (let call = 0; call < 3; call += 1) session.acquire('query').settle({ outcome: 'failure', category: 'network' });
  const permit = session.acquire('query');
  session.end();
  expect(permit.decision).toBe('skip');
  expect(PAGE.replaceAll(/\n> /g, ' ')).toContain('message' in permit ? permit.message : '');
});
