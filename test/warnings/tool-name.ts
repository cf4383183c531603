import { createBreakerbox } from '@breakerbox/core';
import { guard } from '@breakerbox/instrumentation';

const box = createBreakerbox({ agent: 'research-agent', tools: { websearch: { failureThreshold: 5 } } });
const session = box.session();
const search = guard(session, 'web_search', async (query: string) => `pages about ${query}`);
for (const query of ['one', 'two', 'three']) await search(query);
session.end();
