export { startServer, type ServerApp, type ServerOverrides } from './app.ts';
export { systemClock, type Clock } from './clock.ts';
export { parseServerConfig, serverSettings, type ServerConfig } from './config.ts';
