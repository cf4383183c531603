import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} } });
const session = box.session();
for (let call = 0; call < 3; call += 1) session.acquire('web_search').settle({ success: false } as never);
session.end();
