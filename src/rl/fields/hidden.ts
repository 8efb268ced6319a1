// Finds characters that act on a page or a terminal and are not seen. A name that holds them can
// pass for another one.

/** Controls, changes of the reading direction, and spaces without width. Joiners (U+200C, U+200D)
 * and marks of direction (U+200E, U+200F) stay: emoji and many scripts need them. */
const HIDDEN = /[\p{Cc}\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff]/gu

/** Whether a text holds such characters. */
export const hasHidden = (text: string): boolean => text.search(HIDDEN) >= 0

/** The text without them; ends of lines and tabs stay. */
export const withoutHidden = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : ''))
