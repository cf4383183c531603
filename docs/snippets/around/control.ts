import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControl } from '@breakerbox/control';
import type { Target } from '@breakerbox/control/client';
import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} } });
const socket = join(mkdtempSync(join(tmpdir(), 'breakerbox-docs-')), 'a.sock');
const { url } = await startControl({ boxes: [box], listen: { socket } });

/** An agent that runs. */
export const target: Target = { url };
