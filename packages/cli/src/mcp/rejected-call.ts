import { read } from '@breakerbox/core/internal';
import { type RpcMessage, rawId } from './rpc-message.ts';

/** The key by which a request of the stateless protocol (from revision 2026-07-28) names its revision. */
const STATELESS = 'io.modelcontextprotocol/protocolVersion';

/**
 * The answer to a call in place of the server's (M4). It is a result and not a JSON-RPC error, because the model reads results only. The
 * id is the request's, byte for byte.
 */
export const answerTo = (request: RpcMessage, text: string): string => {
  const isStateless = read(read(request.params, '_meta'), STATELESS) !== undefined;
  const result = {
    ...(isStateless && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
  };
  return `{"jsonrpc":"2.0","id":${rawId(request)},"result":${JSON.stringify(result)}}`;
};
