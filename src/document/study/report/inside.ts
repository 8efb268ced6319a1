// Writes the tables of what was measured of the runs' states: by part, or by state and layer.
import { markdownTable, markdownText, type Say } from '../../../formats/text_tables.ts'
import { mean } from '../../../rl/math/stats.ts'
import type { Analysis } from '../analysis.ts'
import { boundsOf } from '../bounds.ts'
import type { RunResult } from '../results.ts'
import { clamped, tInterval } from '../statistics/student.ts'
import type { Study } from '../study.ts'
import { runsOf } from './lines.ts'
import { unitsOf } from './units.ts'

/** What each kind is, before its table. */
const KINDS = {
  start_with: 'Held-out greedy accuracy of the start with a part of the run',
  run_with_starts: 'Held-out greedy accuracy of the run with the start’s part in place of its own',
  without: 'What switching a part off changes in the reward of held-out problems',
} as const

/** Halves of blocks, and heads, are in results.jsonl alone. */
const SMALL = /^(attention|feed forward|head) /

/** `inside/start_with/block_3/acc` as its kind and its part. */
function placeOf(name: string): { kind: string; part: string } | undefined {
  const [, kind, part] = /^inside\/([^/]+)\/([^/]+)(?:\/acc)?$/.exec(name) ?? []
  return kind === undefined ? undefined : { kind, part: part.replaceAll('_', ' ') }
}

/** Mean over the seeds and its 95 % interval; '' where nothing was measured. */
function cellOf(values: readonly number[], metric: string): string {
  if (values.length === 0) return ''
  const { bareValue } = unitsOf(metric)
  const interval = values.length > 1 ? clamped(tInterval(values), boundsOf(metric)) : undefined
  const middle = bareValue(mean(values))
  return interval ? `${middle} [${bareValue(interval.low)}, ${bareValue(interval.high)}]` : middle
}

/** The value of a run's first state behind its start, or of its last. */
const WHEN = {
  first: ({ series, begins }: RunResult, metric: string) =>
    series[metric]?.find(([step]) => step > begins)?.[1],
  end: ({ series }: RunResult, metric: string) => series[metric]?.at(-1)?.[1],
} as const

/** Markdown, a table with its sentence each; none where nothing was measured of the states. */
export function insideTables(study: Study, analysis: Analysis, say: Say): string[] {
  const names = [...new Set(analysis.runs.flatMap(({ series }) => Object.keys(series)))]
  const arms = analysis.arms.map(({ arm: { name } }) => ({
    name,
    runs: runsOf(analysis, study, name),
  }))
  const tables = Object.entries(KINDS).flatMap(([kind, says]) => {
    const own = names.filter((name) => {
      const place = placeOf(name)
      return place?.kind === kind && !SMALL.test(place.part)
    })
    if (own.length === 0) return []
    const hasFirst = arms.some(({ runs }) =>
      runs.some(
        (run) => (run.series[own[0]] ?? []).filter(([step]) => step > run.begins).length > 1,
      ),
    )
    return (hasFirst ? (['first', 'end'] as const) : (['end'] as const)).map((when) =>
      [
        say(
          `${says}, ${when === 'first' ? 'after its first phase' : 'at the end'}${unitsOf(own[0]).value && ', %'}:`,
        ),
        '',
        markdownTable(
          [say('part of the model'), ...arms.map(({ name }) => markdownText(say(name)))],
          own.map((metric) => [
            say(placeOf(metric)?.part ?? metric),
            ...arms.map(({ runs }) =>
              cellOf(
                runs.flatMap((run) => WHEN[when](run, metric) ?? []),
                metric,
              ),
            ),
          ]),
        ),
      ].join('\n'),
    )
  })
  return [...tables, ...teacherTable(arms, say)]
}

/** KL(teacher ‖ policy of each layer) by arm and state. */
function teacherTable(
  arms: readonly { name: string; runs: readonly RunResult[] }[],
  say: Say,
): string[] {
  const [first] = arms.flatMap(({ runs }) => runs)
  const layers = Object.keys(first?.series ?? {}).filter((name) =>
    name.startsWith('inside/teacher_kl/'),
  )
  if (layers.length === 0) return []
  const rows = arms.flatMap(({ name, runs }) => {
    const steps = new Set(runs.flatMap(({ series }) => series[layers[0]]?.map(([at]) => at) ?? []))
    return [...steps].map((step) => [
      markdownText(say(name)),
      `${step}`,
      ...layers.map((metric) =>
        cellOf(
          runs.flatMap(({ series }) => series[metric]?.find(([at]) => at === step)?.[1] ?? []),
          metric,
        ),
      ),
    ])
  })
  const title =
    'KL(teacher ‖ policy of the layer) in nats, where held-out right answers are written:'
  const heads = layers.map((name) => `layer ${placeOf(name)?.part}`)
  return [`${say(title)}\n\n${markdownTable(['arm', 'step', ...heads].map(say), rows)}`]
}
