/**
 * The HTTP server behind `/metrics`, the control API, the console and a relay that listens, and its reading in turns. This package is
 * private: its code becomes a part of those packages when they are built, so no published manifest names it.
 */
export { type Admission, createAdmission, type Places } from './admission.ts';
export { inPieces } from './in-pieces.ts';
export { closeServer, type LimitedServerOptions, limitedServer, listening } from './limited-server.ts';
export { createShares, type Shares } from './shares.ts';
