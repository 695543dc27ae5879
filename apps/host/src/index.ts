export { listDevices, noAdbServer } from './adb/adb-server.ts';
export { type ListedDevice, troubleReason } from './adb/device-list.ts';
export { listUsbPhones, type UsbPhone } from './adb/usb-phones.ts';
export { type HostApp, type HostOverrides, startHost } from './app.ts';
export { checkPhone, type PhoneReport } from './phones/check/check-phone.ts';
export { helperPackages } from './driver/uiautomator2/start-helper.ts';
