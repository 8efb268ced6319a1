// Says in Chinese what a browser says of a text that is no JSON.

/** Of Chrome, Firefox and Safari. */
const MESSAGE =
  /(?:Expected|Unexpected|Unterminated|Bad|No number|Exponent)\b[^\n]*? (?:in JSON at position \d+|after JSON at position \d+|is not valid JSON|end of JSON input)(?: \(line \d+ column \d+\))?|Unexpected end of JSON input|JSON\.parse: [^\n]*? of the JSON data|JSON Parse error: [^\n;]*?(?=\.?$|\. )/g
const PLACE = /line (\d+) column (\d+)/

function said(message: string): string {
  const [, line, column] = PLACE.exec(message) ?? []
  if (line !== undefined) return `第 ${line} 行第 ${column} 列有误`
  if (/end of (?:JSON input|data)|EOF/.test(message)) return '内容中途结束'
  const [, token] = /token '([^'\n]+)'/.exec(message) ?? []
  return token === undefined ? '内容有误' : `“${token}”处有误`
}

export const sayParseErrors = (text: string): string =>
  /JSON/.test(text) ? text.replace(MESSAGE, said) : text
