// Says at the end of a run what was measured beside the number it is told by, on the same held-out
// answers, and why an inner layer can look surer than the model itself.
import { partCard } from '../../../document/experiment/asked.ts'
import { taskCard } from '../../../document/experiment/task_card.ts'
import type { LabState } from '../../../page/state/store.ts'
import { theLayer } from '../../glossary/layer_names.ts'
import { isClear, isClearEntropy } from '../../kit/mean.ts'
import { mainMeasure, posedWords, toldWords } from '../../shown/measure/main_measure.ts'
import { heldOutPart, layerEntropy, sampledAccuracy } from '../../shown/metrics.ts'
import { endsOf, percent } from './captions.ts'

type Experiment = NonNullable<LabState['runExperiment']>

/** 'Coherence: 0.97, then 0.41.', of each part of the reward, rewarded or only watched. */
function partLines(state: LabState, { task, reward, validation }: Experiment): readonly string[] {
  const { asked } = mainMeasure({ task, reward, validation })
  const ids = new Set(reward.parts.map(({ id }) => id))
  return [...ids].flatMap((id) => {
    const card = partCard(task, id)
    const ends = endsOf(state, heldOutPart(task.id, id, validation.n))
    if (!card || !ends || id === asked?.id) return []
    const [was, is] = ends.map(card.isYesNo ? percent : (mean) => mean.toFixed(2))
    return [`${card.label}: ${was}, then ${is}.`]
  })
}

/** What the task itself says of the answers, whatever was rewarded. */
function ownLine(state: LabState, { task, validation }: Experiment): readonly string[] {
  const { prompts, n } = validation
  const ends = endsOf(state, sampledAccuracy(task.id, n))
  if (!ends) return []
  const { partial_score } = taskCard(task, 0)
  const by = partial_score === undefined ? '' : ` (${partial_score})`
  const [was, is] = ends.map(percent)
  const unclear = was !== is && !isClear(ends, prompts * n) ? ': no clear change' : ''
  return [`Full marks by the task’s own score${by}: ${was}, then ${is}${unclear}.`]
}

/** 'On the same stories' and a line for each measure; a run that is told by its accuracy has
 * none. */
export function besideSays(state: LabState): readonly string[] {
  const { runExperiment } = state
  if (!runExperiment || toldWords(mainMeasure(runExperiment)) === undefined) return []
  const lines = [...partLines(state, runExperiment), ...ownLine(state, runExperiment)]
  return [`On the same ${posedWords(runExperiment.task)}`, ...lines]
}

/** Why an inner layer looks surer than the final policy, where one does at the end. */
export function insideWords({ runExperiment, series }: LabState): readonly string[] {
  const layers = runExperiment?.model.num_hidden_layers ?? 0
  const last = Array.from({ length: layers + 1 }, (_, layer) => {
    const column = series.get(layerEntropy(layer))
    return column?.values[column.length - 1] ?? Number.NaN
  })
  const final = last[layers]
  const inner = last.slice(0, layers).map((nats, layer) => ({ nats, layer }))
  const surest = inner
    .filter(({ nats }) => nats < final && isClearEntropy(final - nats))
    .toSorted((a, b) => a.nats - b.nats)[0]
  if (!surest) return []
  const who = theLayer(surest.layer, layers)
  return [
    'Inside',
    `At the end ${who} looks surer than the final policy: ${surest.nats.toFixed(2)} against ${final.toFixed(2)} nats. It is read without the final norm, where a longer state looks surer: that alone does not say that it decided earlier.`,
  ]
}
