import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} } });
const session = box.session();
for (let call = 0; call < 5; call += 1) session.acquire('web_serach').settle({ outcome: 'success' });
session.end();
