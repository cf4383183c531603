/** How the numbers differ from those of the alert on correlated openings, which looks back further at each evaluation. */
export const WHAT_ALERTS_LEAVE_OUT =
  'The alert also leaves out tools of which very few circuits opened. In a large fleet it needs a share of the agents. When the circuit of a group opens, it does not count openings of its tools.';
