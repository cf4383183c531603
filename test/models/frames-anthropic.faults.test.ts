import { anthropicFrame } from './frame-anthropic.ts';
import { faultContract } from './frames.ts';

faultContract(anthropicFrame, 1);
