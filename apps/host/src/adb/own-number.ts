// Numbers that cheap phones and images of emulators carry for all of their kind.
const placeholder =
  /^(?:unknown|none|null|default|android|serial(?:no|number)?|n\.?a|0+|f+|(.)\1{3,}|[x*.:-]+|1234567890?(?:abcdef)?|0?12345(?:6(?:7(?:89?(?:abcdef)?)?)?)?|emulator.*)$/i;
// Forms of names of ADB and of places, which no phone may take for its number.
const placeName = /^usb:|^[^:]*:\d{1,5}$|\._tcp/;

/** Whether a text can be the serial number of one phone alone. */
export const isOwnNumber = (text: string): boolean =>
  /^[\w.:-]{1,100}$/.test(text) && !placeholder.test(text) && !placeName.test(text);
