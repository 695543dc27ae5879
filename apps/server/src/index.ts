export { startServer, type ServerApp, type ServerOverrides } from './app.ts';
export { backUp } from './operations/backup/back-up.ts';
export { checkData } from './operations/backup/check-data.ts';
export { restore } from './operations/backup/restore.ts';
export { systemClock, type Clock } from './kernel/clock.ts';
export { prepareGit } from './code/git/prepare-git.ts';
export { explainListenError } from './http/requests/listen-error.ts';
export { migrateData } from './storage/db/database.ts';
