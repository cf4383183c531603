/**
 * The `Response` of Node itself. A server of MCP in the same process can replace the global one by a class whose frozen objects cannot be read.
 */
export const NodeResponse = (await fetch('data:,')).constructor as typeof Response;
