import { langchainFrame } from './frame-langchain.ts';
import { faultContract } from './frames.ts';

faultContract(langchainFrame, 17);
