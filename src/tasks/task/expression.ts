// Reads arithmetic that somebody wrote: which numbers it uses, and what it comes to.

/** A text of numbers, + - * / and brackets, worked out. */
export interface Worked {
  readonly value: number
  /** In the order in which they are written, without leading zeros. */
  readonly numbers: readonly number[]
}

/** Works out an expression with × and ÷ before + and −; undefined where the text is none. Division
 * by 0 gives no finite value. */
export function workOut(text: string): Worked | undefined {
  const tokens = text.match(/\d+|[-+*/()]/g) ?? []
  if (tokens.join('') !== text || tokens.some((token) => /^0\d/.test(token))) return undefined
  const numbers: number[] = []
  let at = 0
  /** NaN where something is missing. */
  const factor = (): number => {
    const token = tokens[at++]
    if (token === '(') {
      const value = sum()
      return tokens[at++] === ')' ? value : Number.NaN
    }
    if (!/^\d/.test(token ?? '')) return Number.NaN
    numbers.push(Number(token))
    return Number(token)
  }
  const chain = (signs: string, part: () => number): number => {
    let value = part()
    while (at < tokens.length && signs.includes(tokens[at])) {
      const sign = tokens[at++]
      const next = part()
      value =
        sign === '+'
          ? value + next
          : sign === '-'
            ? value - next
            : sign === '*'
              ? value * next
              : value / next
    }
    return value
  }
  const product = () => chain('*/', factor)
  const sum = (): number => chain('+-', product)
  const value = sum()
  return at === tokens.length && !Number.isNaN(value) ? { value, numbers } : undefined
}
