// Core by itself, where there is no Node.
import { createBreakerbox } from '@breakerbox/core';

const box = createBreakerbox({ agent: 'edge', tools: { search: {} } });
const session = box.session({ id: 'conversation-1' });
const categories = [];
box.on('outcome', ({ category }) => categories.push(category));
const decisions = Array.from({ length: 4 }, (_, index) => {
  const permit = session.acquire('search', { input: { query: index } });
  permit.settle({ error: new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }) });
  return permit.decision === 'call' ? 'call' : `${permit.decision}: ${permit.reason}`;
});
session.end();
export const seen = [...decisions, ...new Set(categories)];
