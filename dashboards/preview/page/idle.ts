/** Waits until plots and tables, which measure the layout and draw again, are finished. */
const QUIET_FRAMES = 6;
/** About ten seconds. An icon that does not exist stays empty forever. */
const MOST_FRAMES = 600;

/** An icon of @grafana/ui is empty until its file has loaded. */
const isLoading = (): boolean => document.querySelector('svg:empty') !== null;

/** Resolves once everything on the page has been drawn. */
export const idle = async (): Promise<void> => {
  let quiet = 0;
  for (let frame = 0; frame < MOST_FRAMES && quiet < QUIET_FRAMES; frame += 1) {
    await new Promise(requestAnimationFrame);
    quiet = isLoading() ? 0 : quiet + 1;
  }
  await document.fonts.ready;
};
