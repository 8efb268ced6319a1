// Writes text that any XML reader takes: names may hold what a picture must not.

/** Characters that XML 1.0 cannot hold in any form: most control characters, and two others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters.
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

/** XML, or a part of it, without what makes it unreadable; half an emoji becomes the sign for an
 * unknown character. */
export const xmlText = (text: string): string => text.toWellFormed().replaceAll(FORBIDDEN, '')
