import { useContext } from 'preact/hooks';
import { LinkContext, names, usePlace } from './deep-link.ts';
import { Folded } from './folded.tsx';
import { ForceButtons } from './force-buttons.tsx';
import { isOfModel } from './overview.ts';
import type { AgentProps } from './plans.ts';

/** All tools and models of an agent, with what can be forced on them. */
export const ToolList = ({ agent, act }: AgentProps) => (
  <>
    <NameList title="All tools" tools={agent.tools.filter((tool) => !isOfModel(tool))} agent={agent} act={act} />
    <NameList title="All models" tools={agent.tools.filter(isOfModel)} agent={agent} act={act} />
  </>
);

interface NameListProps extends AgentProps {
  readonly title: string;
  readonly tools: readonly string[];
}

const NameList = ({ title, tools, agent, act }: NameListProps) => {
  const link = useContext(LinkContext);
  const troubled = new Set(agent.circuits.map(({ tool }) => tool));
  const isNamed = tools.some((tool) => !troubled.has(tool) && names(link, { agent: agent.name, tool }));
  if (tools.length === 0) return null;
  return (
    <Folded title={`${title} (${tools.length})`} isOpen={isNamed}>
      {() => (
        <ul class="tools">
          {tools.map((tool) => (
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
