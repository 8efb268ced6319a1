// Builds the report of `npm run soak` from a run's samples: how memory grows from step to step, and
// what was created.
import { join } from 'node:path'
import { loadVite, ROOT } from '../scripts/project.mjs'

/** What must not be created after warming up, by the names that are printed. */
export function createdOf({ buffers, bind_groups, pipelines }) {
  return { buffers, 'bind groups': bind_groups, pipelines }
}

/** Prints the slopes of samples from step `warm` on; returns what must not be. */
export async function report(warm, all) {
  const samples = all.filter(({ step }) => step >= warm)
  if (samples.length < 3) return [`${samples.length} samples were taken, too few`]
  const { runnerImport } = await loadVite()
  const quiet = { configFile: false, logLevel: 'error' }
  const { module: slopes } = await runnerImport(join(ROOT, 'tools/soak/slope.ts'), quiet)
  const [first, last] = [samples[0], samples.at(-1)]
  const seconds = (last.at_ms - first.at_ms) / 1000
  const rate = (last.step - first.step) / seconds
  console.log(
    `  ${samples.length} samples, steps ${first.step} to ${last.step}, ${rate.toFixed(1)} steps/s`,
  )
  console.log(`  ${' '.repeat(65)}all   second half, kB`)
  const kB = (bytes) => (bytes / 1e3).toFixed(1)
  const names = [...new Set(samples.flatMap(({ memory }) => Object.keys(memory)))]
  for (const name of names) {
    const points = samples.flatMap(({ step, memory }) =>
      memory[name] === undefined ? [] : [[step, memory[name]]],
    )
    const rate = ({ slope, error }) =>
      (Number.isNaN(error) ? '–' : `${kB(slope * 1000)} ± ${kB(error * 1000)}`).padStart(18)
    const later = points.slice(Math.floor(points.length / 2))
    console.log(
      `  ${name.padEnd(30)} ${kB(points[0][1]).padStart(9)} → ${kB(points.at(-1)[1]).padStart(9)} kB ${rate(slopes.fitSlope(points))} ${rate(slopes.fitSlope(later))}`,
    )
  }
  const wrong = []
  for (const name of Object.keys(first.created)) {
    const created = last.created[name] - first.created[name]
    console.log(`  ${`created: ${name}`.padEnd(30)} ${created / (last.step - first.step)} a step`)
    if (created > 0) wrong.push(`${created} ${name} were created after step ${first.step}`)
  }
  console.log()
  return wrong
}
