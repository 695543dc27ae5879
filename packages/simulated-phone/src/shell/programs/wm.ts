import type { Program } from '../program.ts';

const limits = { minSize: 200, maxSize: 4096, minDensity: 72, maxDensity: 1000 } as const;

const size: Program = async ({ phone, args, stdout, stderr }) => {
  const { android } = phone;
  const { display } = android;
  const { physical } = android.displayMode;
  const [value] = args;
  if (value === undefined) {
    await stdout.write(`Physical size: ${physical.width}x${physical.height}\n`);
    const isOverridden = display.width !== physical.width || display.height !== physical.height;
    if (isOverridden) await stdout.write(`Override size: ${display.width}x${display.height}\n`);
    return 0;
  }
  const { width, height } = value === 'reset' ? physical : parseSize(value);
  if (!isInside(width, limits.minSize, limits.maxSize) || !isInside(height, limits.minSize, limits.maxSize)) {
    await stderr.write(`Error: bad size ${value}\n`);
    return 255;
  }
  android.resize({ ...display, width, height });
  return 0;
};

function parseSize(value: string): { width: number; height: number } {
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(value);
  return { width: Number(match?.[1]), height: Number(match?.[2]) };
}

const isInside = (value: number, min: number, max: number) => value >= min && value <= max;

const density: Program = async ({ phone, args, stdout, stderr }) => {
  const { android } = phone;
  const { display } = android;
  const { physical } = android.displayMode;
  const [value] = args;
  if (value === undefined) {
    await stdout.write(`Physical density: ${physical.density}\n`);
    if (display.density !== physical.density) await stdout.write(`Override density: ${display.density}\n`);
    return 0;
  }
  const dpi = value === 'reset' ? physical.density : Number(value);
  if (!isInside(dpi, limits.minDensity, limits.maxDensity)) {
    await stderr.write('Error: density must be between 72 and 1000\n');
    return 255;
  }
  android.resize({ ...display, density: dpi });
  return 0;
};

/** Runs `wm size|density [VALUE|reset]`, `wm dismiss-keyguard`. */
export const wm: Program = async (process) => {
  const [command, ...args] = process.args;
  if (process.phone.faults.missingServices.includes('window')) {
    await process.stderr.write("cmd: Can't find service: window\n");
    return 20;
  }
  if (command === 'size') return size({ ...process, args });
  if (command === 'density') return density({ ...process, args });
  if (command === 'dismiss-keyguard') {
    process.phone.android.lockScreen.dismiss();
    return 0;
  }
  await process.stderr.write(`Unknown command: ${command ?? ''}\n`);
  return 255;
};
