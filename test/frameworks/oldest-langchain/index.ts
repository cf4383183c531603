export { HumanMessage } from '@langchain/core/messages';
export { tool } from '@langchain/core/tools';
export { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
export { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
export { createAgent, createMiddleware, humanInTheLoopMiddleware } from 'langchain';
