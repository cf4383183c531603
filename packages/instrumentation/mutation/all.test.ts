/** All tests that judge a mutant, in one file, the quickest first: a mutant of a pattern loads the classifier once. */
import '../src/classify/kind.test.ts';
import '../src/classify/retry-after.test.ts';
import '../src/classify/error-text.test.ts';
import '../src/classify/text.test.ts';
import '../src/classify/call.test.ts';
import '../src/classify/envelopes.test.ts';
import '../src/classify/evidence.test.ts';
import '../src/classify/result.test.ts';
import '../src/classify/unexplained.test.ts';
import '../src/classify/misnomers.test.ts';
import '../src/classify/grpc.test.ts';
import '../src/classify/context.test.ts';
import '../src/classify/exhausted-credit.test.ts';
import '../src/classify/response.test.ts';
import '../src/classify/classify.test.ts';
import '../src/classify/phrases.test.ts';
import '../src/classify/samples.test.ts';
