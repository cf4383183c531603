import { createBreakerbox } from '@breakerbox/core';

const budget = { rule: 'strict', failures: 2 } as const; // A circuit opens after three failures.
const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} }, budget });
const session = box.session();
session.acquire('web_search').settle({ outcome: 'success' });
session.end();
