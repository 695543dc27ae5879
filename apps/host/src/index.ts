export { type HostApp, type HostOverrides, startHost } from './app.ts';
export { checkPhone, type PhoneReport } from './phones/check/check-phone.ts';
export { helperPackages } from './driver/uiautomator2/start-helper.ts';
