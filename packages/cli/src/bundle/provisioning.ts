import { stringify } from 'yaml';

/** Where Grafana finds the dashboards; the README says to copy them there. */
export const DASHBOARD_PATH = '/var/lib/grafana/dashboards/breakerbox';

const COMMENT = ` Grafana loads the dashboards from \`path\`. Belongs into provisioning/dashboards, which is /etc/grafana/provisioning/dashboards
 in packages and images. The dashboards are made by \`breakerbox bundle\`: make them anew instead of changing them there.
`;

/**
 * The file by which Grafana loads the dashboards.
 *
 * No `folderUid`: a team's folder of this title has one already, and the rules that Grafana manages find theirs by title.
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
