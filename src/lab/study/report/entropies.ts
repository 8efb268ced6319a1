// The table of a report that says what each layer does to the entropy: by arm and layer, at the end of the runs.
import { mean } from '../../../rl/math/stats.ts'
import type { Analysis } from '../analysis.ts'
import type { Study } from '../study.ts'
import { entropiesOf } from './lines.ts'
import { short } from './svg.ts'

/**
 * Markdown: H of every layer's policy in nats, mean over the runs, and ΔH, what the layer adds to that of the one below. Undefined where
 * nothing was measured.
 */
export function entropyTable(study: Study, analysis: Analysis): string | undefined {
  const rows = analysis.arms.map(({ arm: { name } }) => {
    const runs = entropiesOf(analysis, study, name)
    const layers = Math.max(0, ...runs.map(({ values }) => values.length))
    const heights = Array.from({ length: layers }, (_, l) =>
      mean(runs.flatMap(({ values }) => values[l] ?? [])),
    )
    return { name, heights }
  })
  const layers = Math.max(0, ...rows.map(({ heights }) => heights.length - 1))
  if (layers === 0) return undefined
  const numbers = Array.from({ length: layers }, (_, i) => i + 1)
  const change = (x: number) => (x < 0 ? `−${short(-x)}` : `+${short(x)}`)
  return [
    'Entropy of every layer’s policy at the end in nats, and in brackets ΔH, its change over the layer below:',
    '',
    `| arm | ${numbers.map((l) => `layer ${l}`).join(' | ')} |`,
    `| --- |${numbers.map(() => ' --- |').join('')}`,
    ...rows.map(({ name, heights }) => {
      const cells = numbers.map((l) =>
        heights[l] === undefined
          ? ''
          : `${heights[l].toFixed(2)} (${change(heights[l] - heights[l - 1])})`,
      )
      return `| ${name} | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}
