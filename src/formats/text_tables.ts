// Writes tables as text, for every file that holds one: CSV for spreadsheets, Markdown for reports.
// Names in them may be anybody's.

/** What a cell holds; undefined is an empty one. */
export type Cell = string | number | undefined

/** Says a text in the language of who reads the file. */
export type Say = (text: string) => string

/** A text as the cell of a table, by RFC 4180. One that a spreadsheet would take for a formula
 * begins with an apostrophe, as OWASP's "CSV Injection" recommends. Numbers are written as they
 * are. */
export function csvCell(content: Cell): string {
  if (content === undefined) return ''
  if (typeof content === 'number') return `${content}`
  const harmless = /^[=+\-@\t\r]/.test(content) ? `'${content}` : content
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A table, a line per row. */
export const csvTable = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(csvCell).join(',')}\n`).join('')

/** A text within Markdown: it stays on its line and in its cell, and begins no markup, link or
 * HTML. */
export const markdownText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\|<>`*]|\](?=[([:])/g, '\\$&')
    .replaceAll('![', '!\\[')

/** A table of Markdown; the cells are Markdown themselves. */
export const markdownTable = (
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
