// Writes the tables of a report beside its measure, by arm, at the end of the runs: other metrics,
// and what each layer does to the entropy.

import { markdownTable, markdownText, type Say } from '../../../formats/text_tables.ts'
import { mean } from '../../../rl/math/stats.ts'
import type { Analysis } from '../analysis.ts'
import type { Study } from '../study.ts'
import { entropiesOf, runsOf } from './lines.ts'
import { BESIDE, shortMetric } from './measure_words.ts'
import { short } from './svg.ts'
import { inHead, unitsOf } from './units.ts'

/** Markdown: H of every layer's policy in nats, mean over the runs, and ΔH, what the layer adds to
 * that of the one below. Undefined where nothing was measured. */
export function entropyTable(study: Study, analysis: Analysis, say: Say): string | undefined {
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
    say(
      'Entropy of every layer’s policy at the end in nats, and in brackets ΔH, its change over the layer below:',
    ),
    '',
    markdownTable(
      ['arm', ...numbers.map((l) => `layer ${l}`)].map(say),
      rows.map(({ name, heights }) => {
        const cells = numbers.map((l) =>
          heights[l] === undefined
            ? ''
            : `${heights[l].toFixed(2)} (${change(heights[l] - heights[l - 1])})`,
        )
        return [markdownText(say(name)), ...cells]
      }),
    ),
  ].join('\n')
}

/** Markdown: the last values of other metrics that were kept, mean over the runs. Undefined where
 * there are none. */
export function besideTable(study: Study, analysis: Analysis, say: Say): string | undefined {
  const all = [...new Set(analysis.runs.flatMap(({ series }) => Object.keys(series)))]
  const passes = all.filter((name) => /pass@\d+\/mean$/.test(name))
  const count = (name: string) => Number(/pass@(\d+)/.exec(name)?.[1])
  const largest = passes.sort((a, b) => count(b) - count(a))[0]
  const shown = all.filter(
    (name) => BESIDE.test(name) && (!passes.includes(name) || name === largest),
  )
  if (shown.length < 2) return undefined
  const cells = (name: string) => {
    const runs = runsOf(analysis, study, name)
    return shown.map((metric) =>
      unitsOf(metric).bareValue(
        mean(runs.flatMap(({ series }) => series[metric]?.at(-1)?.[1] ?? [])),
      ),
    )
  }
  return [
    say('Other metrics at the end of the runs, means over the seeds:'),
    '',
    markdownTable(
      [
        say('arm'),
        ...shown.map((name) => markdownText(`${shortMetric(name)}${inHead(unitsOf(name).value)}`)),
      ],
      analysis.arms.map(({ arm: { name } }) => [markdownText(say(name)), ...cells(name)]),
    ),
  ].join('\n')
}
