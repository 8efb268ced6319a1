// Unrolls, repeats and splits what lies inside a function of WGSL, which has no macros. Whole
// functions are shared by joining files.

/** Writes every line with $ `count` times, with 0, 1, … in place of $: named variables, because an
 * array indexed in a loop may leave the registers. A line that ends with \ and the next one count
 * as one. `constant` gives the count a name in WGSL. */
export function unrolled(wgsl: string, count: number, constant?: string): string {
  const lines = wgsl
    .replace(/ \\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      if (!line.includes('$') || line.startsWith('//')) return [line]
      return Array.from({ length: count }, (_, i) => line.replaceAll('$', String(i)))
    })
  const source = lines.join('\n')
  return constant === undefined ? source : `${source}\nconst ${constant} = ${count}u;\n`
}

/** A line with `mark` is written `count` times, with 0, 1, … in its place. */
export const repeated = (wgsl: string, mark: string, count: number): string =>
  unrolled(wgsl.replaceAll('$', '\0').replaceAll(mark, '$'), count).replaceAll('\0', '$')

/** For a kernel whose invocations hold the sums of half of a row's channels, or of all where
 * `halves` is 1, while each makes whole products of rows: fewer registers, and more arithmetic. A
 * line with ^ is written once per half, UPPER being the last of them; `half` is the invocation's
 * own. The buffers of such rows are `ofVectors`. */
export function inHalves(wgsl: string, halves: number): string {
  const whole = wgsl.replace(/\[(half|\^)\]/g, '')
  const text = (halves === 1 ? whole : wgsl)
    .replaceAll('HALVES', `${halves}u`)
    .replaceAll('UPPER', `${halves - 1}`)
  return repeated(text, '^', halves)
}

/** WGSL type of a row of `channels` in vectors of four, in so many halves: a row in one piece has
 * the plain type by which other kernels know it. */
export function ofVectors(vector: string, channels: number, halves = 1): string {
  const piece = `array<${vector}, ${channels / 4 / halves}>`
  return halves === 1 ? piece : `array<${piece}, ${halves}>`
}

/** Without what compilers skip: lines of comment, empty lines, indents. An adapter reads the text
 * before a run can start. */
export const withoutComments = (wgsl: string): string =>
  wgsl.replaceAll(/^\s*\/\/.*$/gm, '').replaceAll(/^\s+/gm, '')

/** Puts `part` in place of the line `#name`. Throws where there is no such line. */
export function withPart(wgsl: string, name: string, part: string): string {
  const line = new RegExp(`^ *#${name}$`, 'm')
  if (!line.test(wgsl)) throw new Error(`WGSL: expected a line #${name}, found none`)
  return wgsl.replace(line, () => part)
}

/** The functions and types of a text, without its constants and workgroup variables: for a second
 * copy beside the first (`renamed`). Each of those stands on a line of its own. */
export const functionsOf = (wgsl: string): string =>
  wgsl.replaceAll(/^(const|override|var<workgroup>) .*$/gm, '')

/** Other names for whole words. */
export const renamed = (wgsl: string, names: Readonly<Record<string, string>>): string =>
  wgsl.replaceAll(/\w+/g, (word) => (Object.hasOwn(names, word) ? names[word] : word))
