export { currentSession, withSession } from './with-session.ts';
