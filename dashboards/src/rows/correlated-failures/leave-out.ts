/** How the figures differ from what the alert on correlated openings counts, which would be a look back more at each moment. */
export const WHAT_ALERTS_LEAVE_OUT =
  'the alert also leaves out tools of which so few circuits opened that it is chance, and of a large fleet it asks for a share of the agents.';
