// Pictures as text: what all pictures of a study share. They are files on the command line and images in the page.

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Okabe and Ito's colours, which most people can tell apart; arms beyond them repeat with another dash. */
const COLOURS = ['#000000', '#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9']
const DASHES = ['', '6 3', '2 3']
export const colourOf = (i: number): string => COLOURS[i % COLOURS.length]
export const dashOf = (i: number): string => DASHES[Math.floor(i / COLOURS.length) % DASHES.length]

/** A picture with a title that screen readers say. */
export const picture = (title: string, width: number, height: number, parts: readonly string[]) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#222">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#fff"/>
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
