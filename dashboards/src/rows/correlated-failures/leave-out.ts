/** How the figures differ from what the alert on correlated openings counts, which would be a look back more at each moment. */
export const WHAT_ALERTS_LEAVE_OUT =
  'the alert also leaves out tools of which so few circuits opened that it is chance, of a large fleet it asks for a share of the agents, and of a group whose circuit opened it counts no opening of a single tool.';
