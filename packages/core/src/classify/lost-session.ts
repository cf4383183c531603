/** How MCP servers and gateways say that they do not know a session. Other parameters may have the word in their names. */
const LOST =
  /\bsession[ -]?id (?:is |was )?(?:header )?(?:invalid|missing|unknown|required|not |expired)|\b(?:no valid|unknown|invalid|missing) (?:mcp[ -])?session\b|\bsession[ -]?(?:id )?(?:header )?(?:is |was |has |does )?(?:not (?:found|exist|known)|expired|terminated|unknown|invalid)|\bsession does not belong|\b(?:server )?not initialized\b|\bbefore initialization\b|\bexpect(?:ed|s)? initialize\b/i;

/** Whether a refusal says that the server does not know the session of a request any more. `status`: of HTTP, if there is one. */
export const saysSessionLost = (text: string, status?: number): boolean =>
  (status === 400 && /session[ -]?id/i.test(text)) || LOST.test(text);
