import { createBreakerbox } from '@breakerbox/core';

const session = createBreakerbox({ agent: 'research-agent' }).session();
for (let id = 0; id < 2_010; id += 1) session.declare(`search-${id}`);
session.end();
