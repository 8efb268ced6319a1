// Turns committed rows into what the gallery's pictures are drawn from
// (src/document/presets/presets_drawn.json).
import type { PresetFigures } from '../../src/document/presets/drawn.ts'
import { mean } from '../../src/rl/math/stats.ts'
import type { AllRows } from './catalogue.ts'
import type { PresetRows, PresetRun } from './preset_run.ts'

/** `reward_first` is the mean of the first eight steps: this is their middle. */
const MIDDLE_OF_FIRST = 4.5
const DIGITS = 3

const rounded = (value: number): number => Number(value.toFixed(DIGITS))

/** One number for each layer, averaged over runs. */
const layerMeans = (lists: readonly (readonly number[])[]): number[] =>
  lists[0].map((_, layer) => rounded(mean(lists.map((values) => values[layer]))))

const stepsOf = ({ phases }: PresetRun): number => phases.reduce((sum, { steps }) => sum + steps, 0)

/** Throws TypeError where a preset has rows but no runs. */
function figuresOf({ runs }: PresetRows): PresetFigures {
  const is_held_out = runs.some(
    ({ reward, whole_task_at }) => reward === undefined || whole_task_at !== undefined,
  )
  return {
    seeds: runs.map(({ seed }) => seed),
    adapters: [...new Set(runs.map(({ adapter }) => adapter))].join(' and '),
    steps: stepsOf(runs[0]),
    ...(is_held_out && { is_held_out }),
    reward: runs.map(({ reward, reward_first, sampled }) =>
      is_held_out || reward === undefined || reward_first === undefined
        ? sampled.map(([step, value]) => [step, rounded(value)] as const)
        : [
            [MIDDLE_OF_FIRST, rounded(reward_first)],
            ...reward.map(([step, value]) => [step, rounded(value)] as const),
          ],
    ),
    entropy_first: layerMeans(runs.map(({ phases }) => phases[0].first)),
    entropy_last: layerMeans(runs.map(({ phases }) => phases[phases.length - 1].last)),
  }
}

/** The file: one line for each preset that has runs. */
export function figuresText(rows: AllRows): string {
  const lines = [...rows].map(
    ([id, own]) => `${JSON.stringify(id)}:${JSON.stringify(figuresOf(own))}`,
  )
  return `{\n${lines.join(',\n')}\n}\n`
}
