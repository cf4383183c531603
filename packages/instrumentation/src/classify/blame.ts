import type { Call } from './call.ts';
import { isElsewhere, namesHost } from './error-text.ts';
import { isOutage } from './text.ts';
import type { Verdict } from './verdict.ts';

/** The evidence of an error, its text, and whether it is about one host. */
export interface Found {
  readonly sign: string;
  readonly text: string;
  readonly host: boolean;
}

/** C14, O2: what a failure blames, by the URL, the host or the file that the call chose. */
export const blamed = (verdict: Verdict, found: Found, call: Call): Verdict => {
  const { sign } = found;
  const isFailure = isOutage({ ...verdict, sign: '' });
  const answer = (why: string): Verdict => ({ ...verdict, category: 'tool_error', why });
  const ofKey = (what: string, category = verdict.category): Verdict => ({
    ...verdict,
    category,
    blames: 'key',
    why: `${sign}, of the ${what} that the call chose`,
  });
  if (call.isUnserved && isFailure && verdict.category !== 'resource') return answer('a URL that is not fetched');
  const isTarget = (isFailure || found.host) && isAboutTarget(verdict, found, call);
  if (call.asksForHost && isTarget) return answer('whether the host can be reached was the question');
  if (call.target) {
    if (MISSING_PAGE.test(sign) && !isOfService(found.text, call))
      return answer(`${sign}, of the page that the call chose`);
    return isTarget ? ofKey('host') : verdict;
  }
  if (isDeniedFile(verdict, found, call)) return ofKey('file');
  if (!found.host || !isHostOfText(found, call)) return verdict;
  // Which host it was is not known. That it does not exist is an answer.
  const missing = /NOTFOUND|NAME_NOT|UNKNOWN_HOST|no such host/.test(sign);
  return ofKey('host', missing ? 'tool_error' : undefined);
};

const isNamed = (text: string, target: URL | undefined): boolean =>
  target !== undefined && text.toLowerCase().includes(target.hostname);
/** The status comes from the tool's own service, which only got the URL. */
const isOfService = (text: string, { passesOn, asksForHost, target }: Call): boolean =>
  passesOn && !asksForHost && !isNamed(text, target);
const MISSING_PAGE = /^HTTP status 4(?:04|10|51)$/;

/** The machine has no network, or the connection to the tool's own server or proxy failed. */
const OWN_NETWORK =
  /\b(?:ENETUNREACH|ENETDOWN|ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|ERR_PROXY\w*|ERR_TUNNEL\w*|NS_ERROR_OFFLINE)\b|network is unreachable|^(?:JSON-RPC code -32000|code (?:NOT_CONNECTED|CONNECTION_CLOSED|SEND_FAILED))|-32000: connection closed|endpoint of MCP/im;
/** Words that show what else a connection was to. */
const OTHER_PEER =
  /\b(?:databases?|redis|postgres\w*|mysql|mongo\w*|queue|broker|browser|chrom\w+|playwright|daemon|proxy|cache|pool|docker)\b/i;

/** O2: a connection, a time-out, a 429 or a 5xx of a call that chose a URL or a host is about it, unless the text names something else. */
const isAboutTarget = ({ category }: Verdict, { sign, text }: Found, call: Call): boolean => {
  const { target, opens, asksForHost } = call;
  if (OWN_NETWORK.test(`${sign}\n${text}`) || (target && isElsewhere(text, target))) return false;
  const named = isNamed(text, target);
  const status = sign.startsWith('HTTP status');
  if (status && isOfService(text, call)) return false;
  if (category === 'network' || category === 'timeout') {
    return status || named || /^(?:code|class|its class|the signal)/.test(sign) || !OTHER_PEER.test(text);
  }
  return status && (category === 'server' || category === 'rate_limit' || named || opens || asksForHost);
};

/** Whether a call without a URL in its input chose the host: it opens pages. 'connect ECONNREFUSED 127.0.0.1:9222' is about the browser itself. */
const isHostOfText = ({ sign, text }: Found, { opens, context }: Call): boolean =>
  opens && (context?.input === undefined || !/REFUSED|refused|connection/.test(sign) || namesHost(text));

/** Rights to one file that the call chose. */
const isDeniedFile = ({ category }: Verdict, { text, sign }: Found, { quoted }: Call): boolean =>
  category === 'permission' &&
  /EACCES|EPERM|credentials/.test(sign) &&
  quoted.some((value) => /[\\/]/.test(value) && value.length > 3 && text.includes(value));
