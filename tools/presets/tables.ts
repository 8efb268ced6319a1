// Writes the tables of docs/presets.md that are made from committed rows, each between a pair of
// markers.

import { mean, variance } from '../../src/rl/math/stats.ts'
import { valueAtStep } from './card_text.ts'
import type { AllRows } from './catalogue.ts'
import type { PresetRun } from './preset_run.ts'

const SECTION =
  /<!-- (steps|seeds|entropies|judged|preferred|tools): ([a-z0-9- ]+) -->\n[\s\S]*?<!-- end -->/g

type Table = (presets: readonly string[], rows: AllRows) => string

/** The document with the tables of these rows between its markers. */
export const withTables = (document: string, rows: AllRows): string =>
  document.replace(SECTION, (_, kind: keyof typeof TABLES, names: string) => {
    const table = TABLES[kind](names.split(' '), rows)
    return `<!-- ${kind}: ${names} -->\n\n${table}\n\n<!-- end -->`
  })

const percent = (share: number | undefined): string =>
  share === undefined ? '' : `${Math.round(100 * share)}`

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...body].map(line).join('\n')

const runsOf = (rows: AllRows, preset: string): readonly PresetRun[] => rows.get(preset)?.runs ?? []

/** Mean and standard deviation over seeds, per cent; the number itself for one seed. */
function spread(values: readonly number[]): string {
  if (values.length < 2) return percent(values[0])
  return `${percent(mean(values))} ± ${percent(Math.sqrt(variance(values, { unbiased: true })))}`
}

const CURVES = ['greedy', 'sampled', 'reward'] as const

/** Curves by step of reinforcement: mean ± standard deviation over seeds. */
const steps: Table = (presets, rows) => {
  const known = presets.filter((preset) => runsOf(rows, preset).length > 0)
  if (known.length === 0) return NONE
  const all = new Set(known.flatMap((id) => runsOf(rows, id).flatMap(stepsOf)))
  const head = known.flatMap((id) => CURVES.map((curve) => `\`${id}\` ${curve}`))
  const body = [...all]
    .sort((a, b) => a - b)
    .map((step) => [
      `${step}`,
      ...known.flatMap((id) =>
        CURVES.map((curve) =>
          spread(runsOf(rows, id).flatMap((run) => valueAtStep(run[curve] ?? [], step) ?? [])),
        ),
      ),
    ])
  return table(['step', ...head], body)
}

const stepsOf = ({ greedy }: PresetRun): number[] => greedy.map(([step]) => step)

const NONE = 'No run has been recorded yet.'

/** One row for each run. */
const seeds: Table = (presets, rows) => {
  const body = presets.flatMap((id) =>
    runsOf(rows, id).map((run) => [
      `\`${id}\``,
      `${run.seed}`,
      percent(run.greedy[0]?.[1]),
      percent(run.greedy.at(-1)?.[1]),
      percent(run.greedy_mean),
      percent(run.sampled[0]?.[1]),
      percent(run.sampled.at(-1)?.[1]),
      percent(run.reward_first),
      percent(run.reward_last),
    ]),
  )
  if (body.length === 0) return NONE
  const ends = ['before', 'at the end']
  return table(
    [
      'preset',
      'seed',
      ...ends.map((end) => `greedy ${end}`),
      'greedy, mean of the run',
      ...ends.map((end) => `sampled ${end}`),
      'reward, first 8 steps',
      'reward, last 8 steps',
    ],
    body,
  )
}

/** Entropies in nats at the first and the last step of every phase of reinforcement. */
const entropies: Table = (presets, rows) => {
  const body = presets.flatMap((id) =>
    runsOf(rows, id).flatMap((run) =>
      run.phases.map(({ target_layer, steps, first, last }) => {
        const L = first.length - 1
        const went = (l: number) => `${first[l].toFixed(3)} → ${last[l].toFixed(3)}`
        const trained = target_layer === L ? 'whole model' : `layer ${target_layer}`
        const own = target_layer === L ? '' : went(target_layer)
        return [`\`${id}\``, `${run.seed}`, `${trained}, ${steps} steps`, own, went(L)]
      }),
    ),
  )
  if (body.length === 0) return NONE
  return table(['preset', 'seed', 'phase', 'trained layer', 'final policy'], body)
}

/** What reinforcement by a reward model came to. */
const judged: Table = (presets, rows) => {
  const body = presets.flatMap((id) =>
    runsOf(rows, id).map((run) => [
      `\`${id}\``,
      `${run.seed}`,
      percent(run.reward_model_accuracy),
      percent(run.task_score_first),
      percent(run.task_score_last),
      run.kl_last?.toFixed(2) ?? '',
    ]),
  )
  if (body.length === 0) return NONE
  const ends = ['first', 'last'].map((end) => `right samples, ${end} 8 steps`)
  return table(
    ['preset', 'seed', 'held-out pairs in order', ...ends, 'KL per token, last 8 steps, nats'],
    body,
  )
}

/** What preferences came to. */
const preferred: Table = (presets, rows) => {
  const body = presets.flatMap((id) =>
    runsOf(rows, id).map((run) => [
      `\`${id}\``,
      `${run.seed}`,
      percent(run.preference_accuracy),
      percent(run.greedy[0]?.[1]),
      percent(run.greedy.at(-1)?.[1]),
      percent(run.sampled[0]?.[1]),
      percent(run.sampled.at(-1)?.[1]),
    ]),
  )
  if (body.length === 0) return NONE
  const ends = ['before', 'at the end']
  const accuracies = ['greedy', 'sampled'].flatMap((how) => ends.map((end) => `${how} ${end}`))
  return table(['preset', 'seed', 'held-out pairs in order', ...accuracies], body)
}

/** How often tools were called. */
const tools: Table = (presets, rows) => {
  const body = presets.flatMap((id) =>
    runsOf(rows, id).map((run) => [
      `\`${id}\``,
      `${run.seed}`,
      run.tool_calls_first?.toFixed(2) ?? '',
      run.tool_calls_last?.toFixed(2) ?? '',
      percent(run.reward_first),
      percent(run.reward_last),
    ]),
  )
  if (body.length === 0) return NONE
  const ends = ['first', 'last']
  const headings = ['calls per response', 'reward'].flatMap((what) =>
    ends.map((end) => `${what}, ${end} 8 steps`),
  )
  return table(['preset', 'seed', ...headings], body)
}

const TABLES = { steps, seeds, entropies, judged, preferred, tools }
