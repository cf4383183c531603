import { agentsFrame } from './frame-agents.ts';
import { faultContract } from './frames.ts';

faultContract(agentsFrame, 17);
