// Turns committed rows into what the menu's cards say (src/document/presets/presets_seen.json):
// text, the usual result, and what was run.

import { readExperiment } from '../../src/cli/input/experiment_source.ts'
import type { Experiment } from '../../src/document/experiment/schema/schema.ts'
import { PRESETS, type Preset } from '../../src/document/presets/presets.ts'
import type { PresetSeen } from '../../src/document/presets/seen.ts'
import { unopenedModel } from '../../src/host/content/models/unopened.ts'
import { greedyEnd, percent, written } from './card_text.ts'
import { CARDS } from './cards.ts'
import type { PresetRows, PresetRun } from './preset_run.ts'

/** What must differ where no person can answer. */
const UNATTENDED: Readonly<Record<string, string>> = {
  'rlhf-clicks': 'phases.1.pairs.source=judge',
  'dpo-clicks': 'phases.1.pairs.source=judge',
  'story-dpo-clicks': 'phases.0.pairs.source=judge',
  'story-clicks': 'phases.0.pairs.source=judge',
}
/** What `lab train` takes to measure a preset: its id, or a link where it would ask a person. */
export const sourceOf = (id: string): string =>
  Object.hasOwn(UNATTENDED, id) ? `?v=1&p=${id}&${UNATTENDED[id]}` : id

/** The experiment that is measured for a preset. */
export const measuredExperiment = (id: string): Experiment => readExperiment(sourceOf(id))

/** By preset. */
export type AllRows = ReadonlyMap<string, PresetRows>

const NO_RUNS = 'No run of this preset has been recorded yet.'

/** What every card says, in the order of the menu. */
export const catalogue = (rows: AllRows): Record<string, PresetSeen> =>
  Object.fromEntries(PRESETS.map((preset) => [preset.id, seenOf(preset, rows)]))

function seenOf({ id, experiment }: Preset, rows: AllRows): PresetSeen {
  const runsOf = (preset: string) => rows.get(preset)?.runs ?? []
  const runs = runsOf(id)
  const isReal = unopenedModel(experiment) !== undefined
  if (runs.length === 0 && !isReal)
    return { what_you_should_see: NO_RUNS, measured: '', usual_accuracy: '', seeds: 0 }
  const measured = { experiment, runs, runsOf }
  return {
    what_you_should_see: written(CARDS[id], measured),
    measured: isReal ? '' : measuredWords(runs),
    usual_accuracy: isReal || isStory(experiment) ? '' : percent(greedyEnd)(measured),
    seeds: runs.length,
  }
}

/** A story has no right answer. */
const isStory = ({ task }: Experiment): boolean => task.id === 'story'

/** e.g. '3 runs, seeds 1, 2, 3, on llvmpipe'. */
function measuredWords(runs: readonly PresetRun[]): string {
  const seeds = runs.map(({ seed }) => seed).join(', ')
  const adapters = [...new Set(runs.map(({ adapter }) => adapter))].join(' and ')
  return runs.length === 1
    ? `1 run, seed ${seeds}, on ${adapters}`
    : `${runs.length} runs, seeds ${seeds}, on ${adapters}`
}
