export { runtimeFolder } from './runtime-folder.ts';
export { type Control, type ControlOptions, type Listen, startControl } from './start-control.ts';
export { createToken, type Role, readTokens, revokeToken, type Token } from './tokens.ts';
