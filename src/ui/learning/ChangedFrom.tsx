// Says what was changed of the preset that an introduction is about.
import { experimentFields } from '../../document/experiment/form/form.ts'
import { valuesBeside } from '../../document/experiment/form/like_phases.ts'
import { placeWords, settingWords } from '../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { PRESETS } from '../../document/presets/presets.ts'

/** More would be a list, which the settings have. */
const MOST = 5

/** Its own values by path: what a phase takes over from the experiment is said once. */
const valuesOf = (experiment: Experiment) =>
  experimentFields(experiment).filter(
    ({ hasEffect, isOverridden }) => hasEffect && isOverridden !== false,
  )

/** What goes with the model that a run begins with. */
const OF_SOURCE = ['model.source', 'model.source_name', 'model.source_address', 'model.vocab_size']

const startWords = ({ model: { source, source_name } }: Experiment): string =>
  source === null ? 'random weights' : `begins with ${source_name ?? source}`

const kindsOf = ({ phases }: Experiment) => phases.map(({ kind }) => kind).join()

export function ChangedFrom(props: {
  readonly preset: (typeof PRESETS)[number]
  readonly experiment: Experiment
}) {
  const { preset, experiment } = props
  const before = valuesBeside(experiment, preset.experiment, valuesOf(preset.experiment))
  const changed = valuesOf(experiment).filter(
    ({ path, value }) => before.has(path) && before.get(path) !== value,
  )
  const isOther = preset.experiment.model.source !== experiment.model.source
  const listed = changed.filter(({ path }) => !isOther || !OF_SOURCE.includes(path))
  const words = listed
    .slice(0, MOST)
    .map(({ path, value }) => `${placeWords(path)}${settingWords(experiment, path, value)}`)
  const others = listed.length - words.length
  if (isOther) words.unshift(startWords(experiment))
  if (kindsOf(preset.experiment) !== kindsOf(experiment)) words.unshift('other phases')
  if (words.length === 0) return null
  return (
    <p className="soft" data-testid="changed-from">
      Changed from the preset “{preset.name}”: <b>{words.join(', ')}</b>
      {others > 0 ? ` and ${others} more, listed in the settings` : ''}.
    </p>
  )
}
