import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: {} } });
for (let request = 0; request < 3; request += 1) {
  const session = box.session({ id: 'conversation-7' }); // A new one for each request, and no end().
  session.acquire('web_search').settle({ outcome: 'success' });
}
