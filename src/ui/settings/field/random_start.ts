// Lets a run begin from random weights where the model that it begins with does not fit a setting.
import { withField } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { tinyWarmStart } from '../../../document/presets/presets_tiny.ts'
import { dropWrong, edit } from '../../../page/client/edits.ts'
import { editedSettings } from '../../../page/state/next_experiment.ts'
import { labStore } from '../../../page/state/store.ts'

/** The same experiment from random weights, with as many rows as the task has tokens. Nothing that
 * they write is right: where the task has demonstrations, a warm start comes first. */
function fromRandomWeights(experiment: Experiment): Experiment {
  const none = { source: null, source_name: null, source_address: null, vocab_size: null }
  const random = { ...experiment, model: { ...experiment.model, ...none } }
  if (random.phases[0]?.kind !== 'rl') return random
  const warm = withField(random, 'phases', [tinyWarmStart, ...random.phases])
  return warm.ok ? warm.experiment : random
}

/** Sets a field that only the model which the run begins with does not allow, by beginning from
 * random weights; undefined where that is not what is in the way. */
export function randomStart(path: string, value: unknown): (() => void) | undefined {
  const changed = () => withField(fromRandomWeights(labStore.getState().experiment), path, value)
  const { model } = labStore.getState().experiment
  if (model.source === null || !changed().ok) return undefined
  return () => {
    const [state, result] = [labStore.getState(), changed()]
    if (!result.ok) return
    edit({ experiment: editedSettings(result.experiment, state) }, { kind: 'field', path })
    // What the model was in the way of, here and elsewhere, is no longer true.
    for (const { path } of state.wrongFields) if (/^(model|task)\./.test(path)) dropWrong(path)
  }
}
