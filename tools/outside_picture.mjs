// Draws the reward of a job that TRL or BuPO's fork trained and that the lab trained from the same
// weights, and prints both in windows, with the standard errors of their means:
//   node tools/outside_picture.mjs docs/images/trl-curve.svg on_policy=runs/a1,runs/a2,runs/a3
//   two_iterations=runs/b1,runs/b2
//   node tools/outside_picture.mjs docs/images/trl-tiny-grpo.svg tiny_grpo
//   node tools/outside_picture.mjs docs/images/fork-sort-digits.svg fork_sort_digits
// A run is a folder of `npm run lab -- train … --out`; without one the lab's curves are those that
// the fixture keeps beside the other's.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../scripts/project.mjs'

const CURVES = ['fixtures/trl/repeat_digit', 'trl/tiny_grpo', 'bupo/sort_digits'].map((job) =>
  join(ROOT, 'conformance', job, 'curve.json'),
)
const TITLES = {
  on_policy: 'one update per batch',
  two_iterations: 'two updates per batch',
  tiny_grpo: 'tiny-grpo after its warm start',
  fork_sort_digits: 'sort three digits: layer 2 in batches 1 to 10, then the whole model',
}
/** Who trained it, beside the lab. */
const trainerOf = (name) => (name.startsWith('fork_') ? 'BuPO’s fork' : 'TRL')
/** More seeds than can be told apart are drawn as the other trainer's are. */
const MOST_LINES = 6
const [out, ...sources] = process.argv.slice(2)
if (!out || !sources.length) {
  console.error(
    'outside_picture: an output file and at least one name, or name=run,run,…, are needed',
  )
  process.exit(2)
}

/** The mean reward of each step of reinforcement in a run folder. */
const rewardOf = (folder) =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).data)
    .filter((data) => 'actor/grad_norm' in data)
    .map((data) => data['critic/score/mean'])

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length
const deviation = (values) => {
  const centre = mean(values)
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (values.length - 1))
}
/** First and last batch of each window, from 1; a number is so many of equal size. */
const windowsOf = (windows, batches) =>
  typeof windows === 'number'
    ? Array.from({ length: windows }, (_, w) => [
        (w * batches) / windows + 1,
        ((w + 1) * batches) / windows,
      ])
    : windows
const runs = CURVES.flatMap((curve) => JSON.parse(readFileSync(curve, 'utf8')).runs)
const panels = sources.map((source) => {
  const [name, folders] = source.split('=')
  const run = runs.find((candidate) => candidate.name === name)
  if (!run) throw new Error(`${name}: expected one of ${runs.map((r) => r.name).join(', ')}`)
  const theirs = run.per_seed.map(({ reward }) => reward)
  const lab = folders
    ? folders.split(',').map(rewardOf)
    : run.lab_per_seed.map(({ reward }) => reward)
  return { name, theirs, lab, windows: windowsOf(run.judge.windows, theirs[0].length) }
})

const [W, H, LEFT, TOP, GAP, BOTTOM] = [760, 320, 44, 40, 36, 62]
const wide = (W - LEFT - 16 - GAP * (panels.length - 1)) / panels.length
const y = (value) => TOP + (1 - value) * (H - TOP - BOTTOM)
const GREEN = '#0b6e4f'
const GREY = '#8a8f98'

function panel({ name, theirs, lab }, index) {
  const left = LEFT + index * (wide + GAP)
  const last = theirs[0].length - 1
  const x = (i) => left + (i / last) * wide
  const path = (values) =>
    values.map((v, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join('')
  const steps = theirs[0].map((_, i) => i)
  const band = (seeds, color) => {
    const at = (i) => seeds.map((seed) => seed[i])
    const centre = steps.map((i) => mean(at(i)))
    const spread = steps.map((i) => deviation(at(i)))
    const upper = path(centre.map((v, i) => v + spread[i]))
    const lower = [...steps]
      .reverse()
      .map((i) => `L${x(i).toFixed(1)} ${y(centre[i] - spread[i]).toFixed(1)}`)
    return `<path d="${upper}${lower.join('')}Z" fill="${color}" opacity="0.2"/>
<path d="${path(centre)}" fill="none" stroke="${color}" stroke-width="2"/>`
  }
  const own =
    lab.length > MOST_LINES
      ? band(lab, GREEN)
      : lab
          .map(
            (seed) => `<path d="${path(seed)}" fill="none" stroke="${GREEN}" stroke-width="1.4"/>`,
          )
          .join('')
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (v) =>
      `<path d="M${left} ${y(v)}h${wide}" stroke="#ddd"/>${index ? '' : `<text x="${left - 8}" y="${y(v) + 4}" text-anchor="end">${v}</text>`}`,
  )
  const ticks = [0, last].map(
    (i) => `<text x="${x(i)}" y="${H - BOTTOM + 18}" text-anchor="middle">${i + 1}</text>`,
  )
  return `<text x="${left}" y="28" font-weight="600">${TITLES[name] ?? name}</text>
${grid.join('')}${ticks.join('')}<text x="${x(last / 2)}" y="${H - BOTTOM + 18}" text-anchor="middle">batch</text>
${band(theirs, GREY)}
${own}`
}

const TRAINER = trainerOf(panels[0].name)
writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${W} ${H}" font-family="system-ui, sans-serif" font-size="12" fill="#222">
<title>Mean reward of a step: ${TRAINER} and the lab on the same job</title>
<rect width="${W}" height="${H}" fill="#fff"/>
${panels.map(panel).join('\n')}
<path d="M${LEFT} ${H - 20}h24" stroke="${GREY}" stroke-width="2"/><text x="${LEFT + 30}" y="${H - 16}">${TRAINER}, mean of ${panels[0].theirs.length} seeds and one standard deviation either side</text>
<path d="M${LEFT + 420} ${H - 20}h24" stroke="${GREEN}" stroke-width="1.4"/><text x="${LEFT + 450}" y="${H - 16}">the lab, ${panels[0].lab.length} seeds${panels[0].lab.length > MOST_LINES ? ', the same' : ''}</text>
</svg>
`,
)

console.log(`| run | batches | ${TRAINER} | the lab | apart, standard errors |`)
console.log('| --- | --- | --- | --- | --- |')
const shown = (values) =>
  `${mean(values).toFixed(3)} ± ${(deviation(values) / Math.sqrt(values.length)).toFixed(3)}`
for (const { name, theirs, lab, windows } of panels)
  for (const [first, last] of windows) {
    const valuesOf = (seeds) => seeds.map((seed) => mean(seed.slice(first - 1, last)))
    const [other, own] = [valuesOf(theirs), valuesOf(lab)]
    const error = deviation(other) * Math.sqrt(1 / other.length + 1 / own.length)
    const z = (mean(own) - mean(other)) / error
    console.log(
      `| ${name} | ${first} to ${last} | ${shown(other)} | ${shown(own)} | ${z.toFixed(1)} |`,
    )
  }
