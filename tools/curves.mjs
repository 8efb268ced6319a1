// Draws curves of finished runs as one SVG and prints their values as a table:
//   node tools/curves.mjs out.svg --metric val-aux/two_skills_addition/acc/greedy --from 400 \
//     GRPO=runs/grpo BuPO=runs/bupo 'PyTorch GRPO=0:22,10:45,20:78'
// A run is a folder of `npm run lab -- train … --out` (name=folder@400 subtracts 400 from its
// steps), a reference is step:value pairs in per cent.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { metric: { type: 'string' }, title: { type: 'string' } },
})
const [out, ...sources] = positionals
if (!out || !sources.length || !values.metric) {
  console.error('curves: an output file, --metric NAME and at least one name=run are needed')
  process.exit(2)
}

/** Points [step, per cent] of a run folder or of a written-out reference. */
function pointsOf(source) {
  if (/^[\d:.,]+$/.test(source)) return source.split(',').map((pair) => pair.split(':').map(Number))
  const [folder, shift = '0'] = source.split('@')
  return readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ data }) => values.metric in data)
    .map(({ step, data }) => [step - Number(shift), 100 * data[values.metric]])
    .filter(([step]) => step >= 0)
}

const curves = sources.map((source) => {
  const at = source.indexOf('=')
  const text = source.slice(at + 1)
  return {
    name: source.slice(0, at),
    points: pointsOf(text),
    is_reference: /^[\d:.,]+$/.test(text),
  }
})

const [W, H, LEFT, TOP, RIGHT, BOTTOM] = [760, 380, 48, 36, 16, 76]
const last = Math.max(...curves.flatMap(({ points }) => points.map(([step]) => step)))
const x = (step) => LEFT + (step / last) * (W - LEFT - RIGHT)
const y = (value) => TOP + (1 - value / 100) * (H - TOP - BOTTOM)
const COLOURS = ['#0b6e4f', '#b4540a', '#3b5ba9', '#7a3e9d', '#555555']
const xmlText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const grid = [0, 25, 50, 75, 100].map(
  (v) =>
    `<path d="M${LEFT} ${y(v)}H${W - RIGHT}" stroke="#ddd"/><text x="${LEFT - 8}" y="${y(v) + 4}" text-anchor="end">${v} %</text>`,
)
const ticks = Array.from({ length: Math.floor(last / 20) + 1 }, (_, i) => i * 20).map(
  (s) => `<text x="${x(s)}" y="${H - BOTTOM + 18}" text-anchor="middle">${s}</text>`,
)
const lines = curves.map(({ points, is_reference }, i) => {
  const d = points
    .map(([s, v], n) => `${n ? 'L' : 'M'}${x(s).toFixed(1)} ${y(v).toFixed(1)}`)
    .join('')
  const dash = is_reference ? ' stroke-dasharray="5 4"' : ''
  const dots = points.map(
    ([s, v]) => `<circle cx="${x(s).toFixed(1)}" cy="${y(v).toFixed(1)}" r="2.5"/>`,
  )
  const colour = COLOURS[i % COLOURS.length]
  return `<path d="${d}" fill="none" stroke="${colour}" stroke-width="2"${dash}/><g fill="${colour}">${dots.join('')}</g>`
})
const legend = curves.map(({ name, is_reference }, i) => {
  const [lx, ly] = [LEFT + (i % 3) * 232, H - 34 + Math.floor(i / 3) * 18]
  const dash = is_reference ? ' stroke-dasharray="5 4"' : ''
  return `<path d="M${lx} ${ly}h24" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="2"${dash}/><text x="${lx + 30}" y="${ly + 4}">${xmlText(name)}</text>`
})
writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${W} ${H}" font-family="system-ui, sans-serif" font-size="12" fill="#222">
<title>${xmlText(values.title ?? values.metric)}</title>
<rect width="${W}" height="${H}" fill="#fff"/>
<text x="${LEFT}" y="20" font-weight="600">${xmlText(values.title ?? values.metric)}</text>
${[...grid, ...ticks, ...lines, ...legend].join('\n')}
</svg>
`,
)

const steps = [...new Set(curves.flatMap(({ points }) => points.map(([s]) => s)))].sort(
  (a, b) => a - b,
)
console.log(`| step | ${curves.map(({ name }) => name).join(' | ')} |`)
console.log(`| --- | ${curves.map(() => '---').join(' | ')} |`)
for (const step of steps) {
  const cells = curves.map(({ points }) => points.find(([s]) => s === step)?.[1])
  console.log(
    `| ${step} | ${cells.map((v) => (v === undefined ? '' : v.toFixed(1))).join(' | ')} |`,
  )
}
