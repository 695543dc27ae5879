// Placeholders that cheap phones and emulator images share as their serial number.
const placeholder =
  /^(?:unknown|none|null|default|android|serial(?:no|number)?|n\.?a|0+|f+|(.)\1{3,}|[x*.:-]+|1234567890?(?:abcdef)?|0?12345(?:6(?:7(?:89?(?:abcdef)?)?)?)?|emulator.*)$/i;
// Forms of ADB's names and of places, which a phone must not use as its serial number.
const placeName = /^usb:|^[^:]*:\d{1,5}$|\._tcp/;

/** Whether a text can be the serial number of a single phone. */
export const isOwnNumber = (text: string): boolean =>
  /^[\w.:-]{1,100}$/.test(text) && !placeholder.test(text) && !placeName.test(text);
