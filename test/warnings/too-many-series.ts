import { createBreakerbox } from '@breakerbox/core';

const names = Array.from({ length: 300 }, (_, index) => `tool-${index}`);
createBreakerbox({ agent: 'research-agent', tools: Object.fromEntries(names.map((name) => [name, {}])) });
