import { createBreakerbox } from '@breakerbox/core';

const session = createBreakerbox({ agent: 'research-agent' }).session();
for (const tool of ['group:search', 'group:fetch']) session.declare(tool);
session.end();
