import { neverThrows } from '../../../core/src/classify/test-support.nasty.ts';
import { classifyError, classifyResult } from '../test-support/classify/verdicts.ts';

neverThrows(classifyError, classifyResult);
