import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'research-agent', tools: { web_search: { probeAfterSteps: 2 } } });
const session = box.session();
for (let turn = 0; turn < 30; turn += 1) {
  const permit = session.acquire('web_search');
  if (permit.decision === 'call') permit.settle({ error: new Error('503'), verdict: { category: 'server' } });
}
session.end();
