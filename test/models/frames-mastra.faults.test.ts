import { mastraFrame } from './frame-mastra.ts';
import { faultContract } from './frames.ts';

faultContract(mastraFrame, 29);
