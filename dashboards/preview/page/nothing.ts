// Stands in for what is too big to bundle and never asked for.
export const loader = {};
export const languages = {};
export default {};
