// Names a run by what is special about it, in a few words.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS, presetOf } from '../../document/presets/presets.ts'
import { differenceWords, differingPaths, methodWords } from './difference_words.ts'
import type { RunHeader, RunLabels } from './record.ts'

/** Of what is said beside the method: the rest stands beside the name. */
const MAX_WORDS = 2
/** Of a whole name. */
const MAX_LENGTH = 160

/** Of all presets the one that the fewest fields differ from; ties go to the first. */
function nearestPreset(experiment: Experiment) {
  const counted = PRESETS.map((preset) => ({
    preset,
    count: differingPaths(experiment, preset.experiment).length,
  }))
  return counted.reduce((best, other) => (other.count < best.count ? other : best)).preset
}

export interface AutoName {
  /** The method and what differs, most important first, and another seed than the preset's behind
   * it: 'GRPO, lr 3e-4, seed 2'; the method alone where nothing does. */
  readonly name: string
  /** The same without the seed: what the runs of several seeds have in common. */
  readonly seedless: string
  /** The preset that it differs from. */
  readonly from: string
  /** What the name is made of: the method, and all that differs, without the seed. */
  readonly method: string
  readonly words: readonly string[]
}

const named = new WeakMap<Experiment, Map<string, AutoName>>()

/** An automatic name. Computed once for the same objects. */
export function autoName(experiment: Experiment, preset_id: string): AutoName {
  const known = named.get(experiment) ?? new Map<string, AutoName>()
  named.set(experiment, known)
  const name = known.get(preset_id) ?? nameFrom(experiment, preset_id)
  known.set(preset_id, name)
  return name
}

/** The method and a few words, `most` of them. */
export const joinedName = ([method, ...said]: readonly string[], most = MAX_WORDS): string =>
  [method, ...said.slice(0, most)].join(', ').slice(0, MAX_LENGTH)

/** A name without its seed, and the seed. */
export const withSeed = (seedless: string, seed: number | undefined): string =>
  `${seedless}, seed ${seed}`

function nameFrom(experiment: Experiment, preset_id: string): AutoName {
  const preset = presetOf(preset_id) ?? nearestPreset(experiment)
  const words = differenceWords(experiment, preset.experiment)
  const method = methodWords(experiment)
  const { seed } = experiment
  const own = words.filter((word) => word !== `seed ${seed}`)
  const seedless = joinedName([method, ...own])
  return {
    name: own.length < words.length ? withSeed(seedless, seed) : seedless,
    seedless,
    from: preset.name,
    method,
    words: own,
  }
}

/** The name that a person gave the experiment; '' for a preset's own, or none. */
const givenName = ({ name }: Experiment): string =>
  PRESETS.some(({ experiment }) => experiment.name === name) ? '' : (name?.trim() ?? '')

export interface RunName extends AutoName {
  /** Nobody gave it. */
  readonly isAutomatic: boolean
  /** The automatic name, also where the run has another one. */
  readonly differs: string
}

/** What to call a run: as its record was renamed, else as its experiment is named, else by its
 * automatic name. */
export function runName({
  header,
  labels,
}: {
  readonly header: RunHeader
  readonly labels: RunLabels
}): RunName {
  const { document, preset_id, source, study } = header
  // Of an imported run no setting is known that could differ from a preset's.
  if (source) {
    const name = labels.name || document.name?.trim() || source.file
    const isAutomatic = labels.name === ''
    const seedless = isAutomatic ? (source.setting ?? name) : name
    return { name, seedless, from: name, isAutomatic, differs: name, method: '', words: [] }
  }
  const automatic = autoName(document, preset_id)
  if (study) {
    const name = withSeed(study.arm, document.seed)
    return { ...automatic, name, seedless: study.arm, isAutomatic: false, differs: automatic.name }
  }
  const given = labels.name || givenName(document)
  const isAutomatic = given === ''
  return {
    ...automatic,
    ...(isAutomatic ? {} : { name: given, seedless: given }),
    isAutomatic,
    differs: automatic.name,
  }
}
