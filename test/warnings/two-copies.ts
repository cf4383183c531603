/** The copies are given by the test: one of the program, and one of a package that it depends on. */
for (const path of process.argv.slice(2)) {
  const { createBreakerbox } = (await import(path)) as typeof import('@breakerbox/core');
  for (let times = 0; times < 2; times += 1) createBreakerbox({ agent: 'research-agent' }).session().end();
}
