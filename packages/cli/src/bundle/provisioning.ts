import { stringify } from 'yaml';

/** The path from which Grafana loads the dashboards. The README says to copy them there. */
export const DASHBOARD_PATH = '/var/lib/grafana/dashboards/breakerbox';

const COMMENT = ` Grafana loads the dashboards from \`path\`. Belongs in provisioning/dashboards, which is /etc/grafana/provisioning/dashboards
 in packages and images. The dashboards are made by \`breakerbox bundle\`. Do not edit them: run the command again.
`;

/**
 * The file that tells Grafana to load the dashboards.
 *
 * It has no `folderUid`: a team's folder of this title already has one, and rules managed by Grafana find theirs by title.
 * @param folder title of the folder in Grafana
 */
export const dashboardProvider = (folder: string): string => {
  const provider = {
    name: 'breakerbox',
    folder,
    type: 'file',
    disableDeletion: true,
    allowUiUpdates: false,
    updateIntervalSeconds: 30,
    options: { path: DASHBOARD_PATH },
  };
  const comment = COMMENT.replace(/^/gm, '#').replace(/#$/, '');
  return `${comment}${stringify({ apiVersion: 1, providers: [provider] })}`;
};
