import type { Call } from './call.ts';
import { isElsewhere, namesHost } from './error-text.ts';
import { isOutage } from './text.ts';
import type { Verdict } from './verdict.ts';

/** C14, O2: what a failure blames, by the URL, the host or the file that the call chose. `host`: the evidence is about one host. */
export const blamed = (verdict: Verdict, text: string, host: boolean, call: Call): Verdict => {
  const { category, why } = verdict;
  const isFailure = isOutage(category);
  const answer = (reason: string): Verdict => ({ ...verdict, category: 'tool_error', why: reason });
  const ofKey = (what: string): Verdict => ({
    ...verdict,
    blames: 'key',
    why: `${why}, of the ${what} that the call chose`,
  });
  if (call.isUnserved && isFailure && category !== 'resource') return answer('a URL that is not fetched');
  const isTarget = (isFailure || host) && isAboutTarget(verdict, text, call);
  if (call.asksForHost && isTarget) return answer('whether the host can be reached was the question');
  if (call.target) {
    const isPage = MISSING_PAGE.includes(why) && !isOfService(text, call);
    if (isPage) return answer(`${why}, of the page that the call chose`);
    return isTarget ? ofKey('host') : verdict;
  }
  if (isDeniedFile(why, text, call)) return ofKey('file');
  if (!host || !isHostOfText(why, text, call)) return verdict;
  // Which host it was is not known. That it does not exist is an answer.
  const missing = /NOTFOUND|NAME_NOT|UNKNOWN_HOST|no such host/.test(why);
  return { ...ofKey('host'), ...(missing && { category: 'tool_error' }) };
};

const MISSING_PAGE = ['HTTP status 404', 'HTTP status 410', 'HTTP status 451'];

/** The machine has no network, or the connection to the tool's own server or proxy failed. */
const OWN_NETWORK =
  /\b(?:ENETUNREACH|ENETDOWN|ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|ERR_PROXY\w*|ERR_TUNNEL\w*|NS_ERROR_OFFLINE)\b|network is unreachable|JSON-RPC code -32000|code (?:NOT_CONNECTED|CONNECTION_CLOSED|SEND_FAILED)|-32000: connection closed|endpoint of MCP|^HTTP status 407/i;
/** Words that show what else a connection was to. */
const OTHER_PEER =
  /\b(?:databases?|redis|postgres\w*|mysql|mongo\w*|queue|broker|browser|chrom\w+|playwright|daemon|proxy|cache|pool|docker)\b/i;

const isNamed = (text: string, { target }: Call): boolean =>
  target !== undefined && text.toLowerCase().includes(target.hostname);
/** Whether a status comes from the tool's own service, which only got the URL. */
const isOfService = (text: string, call: Call): boolean => call.passesOn && !call.asksForHost && !isNamed(text, call);

/** O2: a connection, a time-out, a 429 or a 5xx of a call that chose a URL or a host is about it, unless the text names something else. */
const isAboutTarget = ({ category, why }: Verdict, text: string, call: Call): boolean => {
  const { target, opens, asksForHost } = call;
  if (OWN_NETWORK.test(`${why}\n${text}`) || (target && isElsewhere(text, target))) return false;
  const named = isNamed(text, call);
  if (why.startsWith('HTTP status'))
    return (
      !isOfService(text, call) &&
      (['timeout', 'server', 'rate_limit'].includes(category) || named || opens || asksForHost)
    );
  const isConnection = category === 'network' || category === 'timeout';
  return isConnection && (named || /code|class|the signal/.test(why) || !OTHER_PEER.test(text));
};

/** Whether a call without a URL in its input chose the host: it opens pages. 'connect ECONNREFUSED 127.0.0.1:9222' is about the browser itself. */
const isHostOfText = (why: string, text: string, { opens, context }: Call): boolean =>
  opens && (context?.input === undefined || !/REFUSED|refused|connection/.test(why) || namesHost(text));

/** Rights to one file that the call chose. */
const isDeniedFile = (why: string, text: string, { quoted }: Call): boolean =>
  /EACCES|EPERM|credentials/.test(why) && quoted.some((value) => /[\\/]/.test(value) && text.includes(value));
