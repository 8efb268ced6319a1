// Quotes text for a shell and for the command line of verl, so that any name passes through both.

/** One argument of a POSIX shell. */
export const shellQuoted = (text: string): string =>
  /^[A-Za-z0-9_./:=+,@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** Letters that Hydra takes without quotes in a value. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_.-]*$/
/** Words that Hydra would not read as text. */
const WORDS = /^(true|false|null|nan|inf|none)$/i

/** A value of one of Hydra's overrides (its grammar, version 1.3): text in double quotes, in which
 * a backslash before a quote is doubled and ${ is no interpolation. */
export function hydraValue(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return `[${value.map(hydraValue).join(',')}]`
  const text = String(value)
  if (PLAIN.test(text) && !WORDS.test(text)) return text
  const escaped = text
    .replaceAll('${', '\\${')
    .replace(/(\\*)"/g, '$1$1\\"')
    .replace(/\\+$/, '$&$&')
  return `"${escaped}"`
}

/** A literal of Python. */
export function pythonValue(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value === 'object') {
    const entries = Object.entries(value as object)
    return `{${entries.map(([key, own]) => `${pythonValue(key)}: ${pythonValue(own)}`).join(', ')}}`
  }
  return JSON.stringify(value)
}
