// The first thing that runs, whatever the Node: so no syntax that an old one doesn't read.
var LEAST_NODE = 20;
if (Number(process.versions.node.split('.')[0]) >= LEAST_NODE) {
  import('./bring-up.mjs');
} else {
  process.stderr.write(
    'breakerbox: this is Node ' +
      process.versions.node +
      ', and starting takes Node ' +
      LEAST_NODE +
      ' or later. Install a newer one and run the same command again; the workspace brings its own Node 24 for everything else.\n',
  );
  process.exit(1);
}
