import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { AgentOverview, LiveSession } from './overview.ts';

/** What an alert's link names (A9). The page goes there and never acts by itself. */
export interface DeepLink {
  readonly agent: string | undefined;
  readonly tool: string | undefined;
  readonly event: string | undefined;
  readonly session: string | undefined;
}

/** A thing on the page. */
export type Place = Partial<DeepLink>;

/** What links of the dashboards have for a label that an alert does not have. */
const ALL = 'All';

const read = (): DeepLink => {
  const link = new URLSearchParams(location.hash.slice(1));
  const of = (name: string): string | undefined => {
    const value = link.get(name);
    return value === null || value === ALL ? undefined : value;
  };
  return { agent: of('agent'), tool: of('tool'), event: of('event'), session: of('session') };
};

/** The link in the address, now and whenever it changes. */
export const useDeepLink = (): DeepLink => {
  const [link, setLink] = useState(read);
  useEffect(() => {
    const onChange = (): void => setLink(read());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return link;
};

const isSame = (wanted: string | undefined, shown: string | undefined): boolean =>
  wanted === undefined || wanted === shown;

/** Whether a link names this place. It names the most exact thing: a session or event, else a tool, else an agent. */
export const names = (link: DeepLink, place: Place): boolean => {
  if (!isSame(link.agent, place.agent)) return false;
  if (link.session !== undefined || link.event !== undefined)
    return place.session !== undefined && isSame(link.session, place.session) && isSame(link.event, place.event);
  if (link.tool !== undefined) return link.tool === place.tool;
  return link.agent !== undefined && place.session === undefined && place.tool === undefined;
};

export const LinkContext = createContext<DeepLink>({
  agent: undefined,
  tool: undefined,
  event: undefined,
  session: undefined,
});

/** The place of a session. */
export const placeOf = ({ agent, session }: LiveSession): Place => ({
  agent,
  session: session.id,
  event: session.event?.id,
});

/** The link that the page has gone to: only once, because the operator scrolls on. */
let visited: DeepLink | undefined;

/** For the element of a place: the first one that the link names is scrolled to, and gets the focus. */
export const usePlace = <Element extends HTMLElement>(place: Place) => {
  const link = useContext(LinkContext);
  const ref = useRef<Element>(null);
  const isNamed = names(link, place);
  useEffect(() => {
    if (!isNamed || visited === link || ref.current === null) return;
    visited = link;
    ref.current.scrollIntoView({ block: 'center' });
    ref.current.focus({ preventScroll: true });
  }, [isNamed, link]);
  return { ref, tabIndex: -1, 'data-named': isNamed || undefined } as const;
};

const placesOf = (one: AgentOverview): readonly Place[] => [
  { agent: one.name },
  ...one.tools.map((tool) => ({ agent: one.name, tool })),
  ...[...one.paused, ...one.troubled, ...one.quiet].map(placeOf),
];

/** What the link names if no process has it now. */
export const missing = (link: DeepLink, agents: readonly AgentOverview[]): string | undefined => {
  const [named] = [
    link.session && `Session ${link.session}`,
    link.event && `Event ${link.event}`,
    link.tool && `Tool ${link.tool}`,
    link.agent && `Agent ${link.agent}`,
  ].filter((one) => one !== undefined && one !== '');
  return agents.some((one) => placesOf(one).some((place) => names(link, place))) ? undefined : named;
};
