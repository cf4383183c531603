// The first thing that runs, whatever the Node: so no syntax that an old one doesn't read.
var LEAST_NODE = 20;
if (Number(process.versions.node.split('.')[0]) >= LEAST_NODE) {
  import('./bring-up.mjs');
} else {
  process.stderr.write(
    'breakerbox: this is Node ' +
      process.versions.node +
      ', but this command needs at least Node ' +
      LEAST_NODE +
      '. Install a newer Node and run the same command again. After the start, the workspace uses its own Node 24.\n',
  );
  process.exit(1);
}
