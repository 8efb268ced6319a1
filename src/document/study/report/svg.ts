// Writes pictures as text: what the files of a study's pictures share. The page draws the same
// numbers itself.

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** What a picture is drawn in: Okabe and Ito's colours, which most people can tell apart. */
export const INKS = {
  paper: '#fff',
  ink: '#222',
  grid: '#e4e4e4',
  /** The line of no difference. */
  zero: '#666',
  better: '#00704f',
  worse: '#b34700',
  none: '#555',
  /** A cell that nobody measured, and the strongest colour of those that were, with the ink on
   * it. */
  empty: '#eee',
  heat: '#0072b2',
  on_heat: '#fff',
  /** Of arms; those beyond them repeat with another dash. */
  arms: ['#000000', '#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9'],
} as const

const DASHES = ['', '6 3', '2 3']
export const colourOf = (i: number): string => INKS.arms[i % INKS.arms.length]
export const dashOf = (i: number): string =>
  DASHES[Math.floor(i / INKS.arms.length) % DASHES.length]

/** A picture with a title that screen readers say. */
export const picture = (title: string, width: number, height: number, parts: readonly string[]) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${INKS.ink}">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="${INKS.paper}"/>
<text x="12" y="20" font-weight="600">${escaped(title)}</text>
${parts.join('\n')}
</svg>
`

/** Two or three digits: enough for a picture. */
export const short = (x: number): string => {
  if (!Number.isFinite(x)) return '–'
  const size = Math.abs(x)
  if (size === 0) return '0'
  return size >= 1e6 || size < 1e-4
    ? x.toExponential(1).replace('e+', 'e')
    : `${Number(x.toPrecision(3))}`
}

/** About `count` round numbers that span low … high, and how to place a number between them. */
export function scaleOf(low: number, high: number, from: number, to: number, count = 5) {
  const [a, b] = low === high ? [low - 1, high + 1] : [low, high]
  const raw = (b - a) / count
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw
  const ticks: number[] = []
  for (let i = Math.ceil(a / step); i * step <= b + step * 1e-9; i++)
    ticks.push(Number((i * step).toPrecision(12)))
  const place = (x: number) => Number((from + ((x - a) / (b - a)) * (to - from)).toFixed(1))
  return { ticks, place }
}
