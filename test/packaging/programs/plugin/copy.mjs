// Finds the copy in plugin/node_modules.
export * as core from '@breakerbox/core';
export * as instrumentation from '@breakerbox/instrumentation';
