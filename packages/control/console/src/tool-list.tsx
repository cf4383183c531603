import { useContext } from 'preact/hooks';
import { LinkContext, names, usePlace } from './deep-link.ts';
import { Folded } from './folded.tsx';
import { ForceButtons } from './force-buttons.tsx';
import type { AgentProps } from './plans.ts';

/** All tools of an agent, with what can be forced on them. */
export const ToolList = ({ agent, act }: AgentProps) => {
  const link = useContext(LinkContext);
  const troubled = new Set(agent.circuits.map(({ tool }) => tool));
  const isNamed = agent.tools.some((tool) => !troubled.has(tool) && names(link, { agent: agent.name, tool }));
  if (agent.tools.length === 0) return null;
  return (
    <Folded title={`All tools (${agent.tools.length})`} isOpen={isNamed}>
      {() => (
        <ul class="tools">
          {agent.tools.map((tool) => (
            <ToolRow key={tool} agent={agent} act={act} tool={tool} />
          ))}
        </ul>
      )}
    </Folded>
  );
};

const ToolRow = ({ agent, act, tool }: AgentProps & { readonly tool: string }) => {
  const place = usePlace<HTMLLIElement>({ agent: agent.name, tool });
  return (
    <li {...place}>
      <span class="name">{tool}</span>
      {agent.canOperate && <ForceButtons agent={agent} tool={tool} act={act} />}
    </li>
  );
};
