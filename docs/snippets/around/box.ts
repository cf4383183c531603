export { createBreakerbox } from '@breakerbox/core';
