import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Phone that is plugged into this machine, whether or not adb knows it. */
export interface UsbPhone {
  /** USB port in adb's form, such as `1-4.2`. */
  readonly port: string;
  /** Maker and model as the phone reports them on the bus; may be empty. */
  readonly name: string;
  /** Whether the phone offers ADB, which means that USB debugging is on. */
  readonly offersAdb: boolean;
}

/** Folder in which Linux shows each USB device, and each interface of one, as a folder. */
const linuxDevices = '/sys/bus/usb/devices';

/** Class, subclass and protocol of adbd's interface (`adb.h`: ADB_CLASS, ADB_SUBCLASS, ADB_PROTOCOL). */
const adbInterface = 'ff 42 01';
/** Still image: AOSP's descriptors for MTP and PTP (`MtpDescriptors.cpp`). Cameras have it too. */
const mediaInterface = '06 01 01';

/**
 * Lists the phones on the USB of this machine. Returns none on systems other than Linux, and in a container without its
 * USB devices.
 */
export async function listUsbPhones(folder = linuxDevices): Promise<UsbPhone[]> {
  const names = await readdir(folder).catch(() => []);
  const interfaces = await Promise.all(
    names.filter((name) => name.includes(':')).map((name) => readInterface(folder, name)),
  );
  const byPort = Map.groupBy(interfaces, ({ port }) => port);
  const phones = await Promise.all([...byPort].map(([port, all]) => toPhone(folder, port, all)));
  return phones.filter((phone) => phone !== undefined).sort((a, b) => a.port.localeCompare(b.port));
}

interface UsbInterface {
  readonly port: string;
  readonly kind: string;
}

/** Reads an interface. Example of `name`: `1-4.2:1.0` is interface 0 of configuration 1 at port `1-4.2`. */
async function readInterface(folder: string, name: string): Promise<UsbInterface> {
  const [port = ''] = name.split(':', 1);
  const fields = ['bInterfaceClass', 'bInterfaceSubClass', 'bInterfaceProtocol'];
  const numbers = await Promise.all(fields.map((field) => readField(join(folder, name, field))));
  return { port, kind: numbers.join(' ') };
}

async function toPhone(
  folder: string,
  port: string,
  interfaces: readonly UsbInterface[],
): Promise<UsbPhone | undefined> {
  const kinds = interfaces.map(({ kind }) => kind);
  const offersAdb = kinds.includes(adbInterface);
  if (!offersAdb && !kinds.includes(mediaInterface)) return undefined;
  const maker = await readField(join(folder, port, 'manufacturer'));
  const model = await readField(join(folder, port, 'product'));
  return { port, name: [maker, model].filter(Boolean).join(' '), offersAdb };
}

const readField = async (file: string): Promise<string> =>
  (await readFile(file, 'utf8').catch(() => '')).trim();
