// Turns committed rows into what the menu's cards say (src/document/presets/presets_seen.json):
// text, what was run, and how to run it again.

import { readExperiment } from '../../src/cli/input/experiment_source.ts'
import type { Experiment } from '../../src/document/experiment/schema/schema.ts'
import { PRESETS, type Preset } from '../../src/document/presets/presets.ts'
import type { PresetSeen } from '../../src/document/presets/seen.ts'
import { unopenedModel } from '../../src/host/content/models/unopened.ts'
import { written } from './card_text.ts'
import { CARDS } from './cards.ts'
import type { PresetRows, PresetRun } from './preset_run.ts'

/** What must differ where no person can answer. */
const UNATTENDED: Readonly<Record<string, string>> = {
  'rlhf-clicks': 'phases.1.pairs.source=judge',
  'dpo-clicks': 'phases.1.pairs.source=judge',
  'story-dpo-clicks': 'phases.0.pairs.source=judge',
  'story-clicks': 'phases.0.pairs.source=judge',
}
/** The preset whose --save the runs with --warm-start began from: its supervised phases are the
 * same. */
const SAVED_BY = 'two-skills-grpo'

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
  if (unopenedModel(experiment) !== undefined)
    return {
      what_you_should_see: written(CARDS[id], { experiment, runs, runsOf }),
      measured: '',
      command: `${commandOf(id, 1, false)} --model DIR --data FILE --tokenizer DIR`,
    }
  if (runs.length === 0)
    return { what_you_should_see: NO_RUNS, measured: '', command: commandOf(id, 1, false) }
  const [{ seed, from_warm_start }] = runs
  return {
    what_you_should_see: written(CARDS[id], { experiment, runs, runsOf }),
    measured: measuredWords(runs),
    command: commandOf(id, seed, from_warm_start),
  }
}

/** e.g. '3 runs, seeds 1, 2, 3, on llvmpipe'. */
function measuredWords(runs: readonly PresetRun[]): string {
  const seeds = runs.map(({ seed }) => seed).join(', ')
  const adapters = [...new Set(runs.map(({ adapter }) => adapter))].join(' and ')
  return runs.length === 1
    ? `1 run, seed ${seeds}, on ${adapters}`
    : `${runs.length} runs, seeds ${seeds}, on ${adapters}`
}

/** What makes a run again. */
function commandOf(id: string, seed: number, from_warm_start: boolean): string {
  const source = sourceOf(id)
  const train = (what: string, rest = '') =>
    `npm run -s lab -- train ${what} --seed ${seed}${rest === '' ? '' : ` ${rest}`}`
  const quoted = source === id ? id : `'${source}'`
  if (!from_warm_start) return train(quoted)
  const folder = `runs/warm${seed}`
  return [train(SAVED_BY, `--save ${folder}`), train(quoted, `--warm-start ${folder}`)].join(' && ')
}
