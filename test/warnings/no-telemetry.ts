import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} } });
for (let run = 0; run < 2; run += 1) {
  const session = box.session({ span: true });
  session.acquire('web_search').settle({ outcome: 'success' });
  session.end();
}
