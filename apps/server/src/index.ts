export { startServer, type ServerApp, type ServerOverrides } from './app.ts';
export { backUp } from './backup/back-up.ts';
export { checkData } from './backup/check-data.ts';
export { restore } from './backup/restore.ts';
export { systemClock, type Clock } from './clock.ts';
export { prepareGit } from './git/prepare-git.ts';
export { explainListenError } from './http/addresses.ts';
export { migrateData } from './db/database.ts';
