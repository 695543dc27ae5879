export { type HostApp, type HostOverrides, startHost } from './app.ts';
export { type HostConfig, hostSettings, parseHostConfig } from './config.ts';
