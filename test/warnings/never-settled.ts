import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} } });
const session = box.session();
for (let turn = 0; turn < 30; turn += 1) {
  if (session.acquire('web_search').decision === 'call') await Promise.resolve('pages');
  session.step();
}
session.end();
