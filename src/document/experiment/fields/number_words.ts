// Writes the numbers of settings, and rates as they are measured, in names, sentences, fields and
// charts alike.

const written = (value: number, leastPlain: number): string => {
  const size = Math.abs(value)
  const isPlain = value === 0 || (size >= leastPlain && size < 1e6)
  return isPlain
    ? String(Number(value.toPrecision(6)))
    : Number(value.toPrecision(6)).toExponential().replace('e+', 'e')
}

/** A number as people write it: usual learning rates as decimals, 0.00003 as 3e-5. */
export const numberWords = (value: number): string => written(value, 1e-4)

/** The same in the name of a study's arm, 0.0003 as 3e-4: results and links find their arm by it,
 * so it stays as it was. */
export const armNumber = (value: number): string => written(value, 1e-3)
