export type { Listen, SocketAddress, TcpAddress } from './listen-address.ts';
export { isOwn, runtimeFolder } from './runtime-folder.ts';
export { type Control, type ControlOptions, type OperatedFleet, startControl } from './start-control.ts';
export { createToken, type Role, readTokens, revokeToken, type Token } from './tokens.ts';
