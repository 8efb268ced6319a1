// Prints every text of the command line. Texts may hold names and file contents of strangers, so
// control characters are escaped here.

/** A text as a terminal may show it: characters that move the cursor, turn the reading direction or
 * cannot be seen are written as \uXXXX, which JSON reads back. Ends of lines and tabs stay. */
export const plain = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

/** The same for a part of a line. */
export const plainLine = (text: string): string => plain(text.replace(/[\n\t]/g, ' '))

/** The result of a command: to stdout. */
export const print = (text: string): void => console.log(plain(text))

/** What a person should know besides: to stderr. */
export const tell = (text: string): void => console.error(plain(text))

/** A terminal or a reader that has gone away ends nothing. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}
