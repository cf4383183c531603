import { anyCase, clause, type Group, oneOf, opening, STOP } from './phrase-parts.ts';

/** What a computer waits for, and a customer does not. */
const WAITS =
  'request connect connection read write socket response operation gateway idle header headers body query call';
const WAIT = oneOf(WAITS);
const WORK = oneOf(
  `${WAITS} fetch command process execution script task tool server upstream api host handshake lookup navigation`,
);
const RAN_OUT = '(?:was |has been |is )?(?:exceeded|expired|reached|elapsed)';

/** Classes of other languages, as their traces name them: Python's ssl, requests, httpx, aiohttp; Java. */
const NETWORK_CLASS = oneOf(String.raw`
  \w{0,20}Connect(?:ion)?(?:Refused|Reset|Aborted|or)?Error NameResolutionError MaxRetryError RemoteDisconnected
  ServerDisconnectedError RemoteProtocolError IncompleteRead ProxyError SSL(?:CertVerification)?Error gaierror
  UnknownHostException ConnectException SocketException NoRouteToHostException SSLHandshakeException`);

/** Somebody waited in vain. */
export const TIMED_OUT: Group = {
  means: 'timeout',
  always: [
    anyCase(String.raw`\b${WORK} (?:(?:to|for|from) \S{1,200} )?(?:has |was )?timed[ -]?out\b`),
    opening(String.raw`timed[ -]?out\b`),
    clause(String.raw`timed[ -]?out[.!]?\s*$`), // Python's sockets, in what FastMCP writes before them
    anyCase(
      String.raw`\btimed[ -]?out (?:while |when )?(?:connecting|reading|fetching|`,
      String.raw`waiting for (?:an? |the )?(?:response|reply|server|connection|headers))\b`,
    ),
    anyCase(
      String.raw`(?<!\b(?:hold|session|reservation|offer|cart|booking|quote) )`,
      String.raw`\btimed[ -]?out after \d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|s|secs?|seconds?)\b`,
    ),
    // 'Request timeout', and not 'Request timeout value must be positive'
    new RegExp(
      String.raw`\b${WAIT} time-?out(?:\s*$|[\n.!,;)\]]|:(?! ?(?:must|should|expected|invalid))|` +
        String.raw` (?:\(|(?:${RAN_OUT}|after|while|waiting|error|occurred|on)\b))`,
      'i',
    ),
    // axios, Puppeteer: 'timeout of 30000 ms exceeded'; Playwright: 'Timeout 30000ms exceeded'
    anyCase(String.raw`\btime-?out (?:of )?\d{1,9} ?\w{0,12} ${RAN_OUT}\b`),
    /\btime-?out after \d{1,9} ?(?:ms|s)\b/i,
    opening(String.raw`time-?out(?:[.!]?\s*$| ${RAN_OUT}\b)`),
    anyCase(String.raw`\b${WAIT} (?:was |is |has been )?\w{1,12} (?:due to|after) (?:an? )?time-?out\b`),
    /Timeout(?:Error|Exception)\b/i,
    /\b(?:Connect|Read|Write|Pool)Timeout\b/, // requests, httpx
    /\bcontext deadline exceeded\b/i, // Go
    opening(String.raw`deadline exceeded\b`),
    /\b(?:i\/o|handshake) timeout\b/i, // Go
    /\bcancell?ing statement due to (?:statement|lock) timeout\b/i, // PostgreSQL
    anyCase(String.raw`\bdatabase (?:table )?is locked${STOP}`), // SQLite
  ],
  thrown: [
    /\btimed[ -]?out\b/i,
    /\bdeadline (?:was |has been )?exceeded\b/i,
    /\b(?:due to|after|gave up on) (?:an? )?time-?out\b/i,
    anyCase(String.raw`\btime-?out ${RAN_OUT}\b`),
    /\btime-?out after \d/i,
  ],
};

/** Nobody was reached, or the connection broke. */
export const UNREACHED: Group = {
  means: 'network',
  always: [
    new RegExp(String.raw`\b${NETWORK_CLASS}\b`),
    // Flights and trains have connections too.
    anyCase(
      String.raw`(?<!\b(?:flight|train|bus|rail) )\bconnection (?:was |has been |is )?`,
      String.raw`(?:refused|reset|closed|aborted|lost|terminated|dropped)\b`,
    ),
    /\ball connection attempts failed\b/i, // anyio, and with it httpx
    /\bmax retries exceeded with url\b/i, // urllib3
    /\bsocket hang up\b/i,
    /\bother side closed\b/i,
    /\brequest from a closed client\b/i, // @ai-sdk/mcp, whose server has died
    /\bpremature close\b/i,
    /\bupstream connect error or disconnect\b/i, // Envoy
    /\bStream isn't writeable and enableOfflineQueue\b/, // ioredis
    /\bstream has been aborted\b/i, // axios, whose code for it says nothing
    /\bserver aborted pending request\b/i, // got
    /\bcontent-length mismatch\b/i, // got, undici
    anyCase(String.raw`\bbroken pipe${STOP}`),
    anyCase(String.raw`\bhost is down${STOP}`),
    // Go, of a connection; a parser's is about what it was given.
    /^(?![\s\S]*\b(?:pars|syntax|json|yaml|xml|unmarshal|matching))[\s\S]*\bunexpected EOF["')]?\s*$/i,
    /\bEOF occurred in violation of protocol\b/,
    /\b(?:tls|ssl)\b.{0,20} handshake (?:failed|failure|error)\b/i,
    /\b(?:tls|ssl)[ :]{1,2}handshake (?:failed|failure|error)\b/i,
    /\bfetch failed(?=[.!]?\s*(?:$|[\n(]))/i,
    /\bfailed to fetch(?=[.!]?\s*$)/i,
    /\bnetwork (?:error|is unreachable|unreachable|failure)\b/i,
    /\b(?:host|server) (?:is )?unreachable\b/i,
    /\bno route to host\b/i,
    /\b(?:cannot|could not|couldn't|can't|unable to|failed to) (?:connect to|resolve host)/i,
    /\bfailed to establish (?:a )?(?:new )?connection\b/i,
    // Go. A guest house has a host too.
    /\bdial (?:tcp|udp|unix)\b/,
    anyCase(String.raw`\blookup [^\n]{1,200}: no such host${STOP}`),
    /\bx509: certificate (?:signed by|has expired|is (?:valid for|not trusted|not valid))/,
    // Python
    /\bserver disconnected without sending a response\b/i,
    /\bremote end closed connection without response\b/i,
    // MySQL
    /\blost connection to (?:the )?MySQL server\b/i,
    /\bMySQL server has gone away\b/i,
    /\bgetaddrinfo\b/i,
    /\bfailure in name resolution\b/i,
    /\bname resolution (?:failed|failure|error)\b/i,
    /\bname or service not known\b/i,
    /\bself[- ]signed certificate\b/i,
    /\bcertificate verify failed\b/i,
    clause(String.raw`certificate (?:has )?expired\b`),
    /\bunable to verify the first certificate\b/i,
    opening(String.raw`not connected[.!]?\s*$`),
  ],
  thrown: [
    /\bbroken pipe\b/i,
    /\bfetch failed\b/i,
    // Of itself, or with the address or the reason after it: 'Failed to fetch weather data' is said by a tool.
    /\bfailed to fetch(?=\s*$|[.!:(\n]| \(| https?:| (?:dynamically|resource)\b)/i,
    /\bno such host\b/i,
    /\bname resolution\b/i,
    /\bcertificate (?:has )?expired\b/i,
    /\bnot connected$/i,
  ],
};
