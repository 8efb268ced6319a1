import { expect, test } from 'vitest'
import { OPENING } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { initialState, type LabState } from '../../../page/state/store.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { firstLight } from './first_light.ts'

/** A run of three layers whose first phase ended after step 4: entropies of steps 1, 4 and 45. */
function run(layers: readonly (readonly number[] | undefined)[], ends = [0, 4]): LabState {
  const series = new Map<string, Series>()
  for (const [layer, values] of layers.entries()) {
    if (!values) continue
    const column = new Series()
    for (const [i, step] of [1, 4, 45].entries()) column.push(step, values[i])
    series.set(layerEntropy(layer), column)
  }
  const phase_switches = ends.map((step, phase) => ({ step, phase, reason: 'steps' as const }))
  return { ...initialState(), runExperiment: OPENING.experiment, series, step: 45, phase_switches }
}

const EMBEDDING = [3.24, 3.24, 3.24]
const FIRST = [2.87, 2.81, 2.4]

test('the light reached the layer first whose entropy fell most by the end of the first phase', () => {
  expect(firstLight(run([EMBEDDING, FIRST, [1.93, 1.3, 0.81], [1.42, 1.31, 0.32]]))).toBe(
    'The light reached layer 2 first: by step 4 its entropy fell from 1.93 to 1.30 nats; that of the final policy only from 1.42 to 1.31 nats.',
  )
})

test('where the final policy was first, the layer that came next stands beside it', () => {
  expect(firstLight(run([EMBEDDING, FIRST, [1.93, 1.8, 0.81], [1.42, 1.0, 0.32]]))).toBe(
    'The light reached the final policy first: by step 4 its entropy fell from 1.42 to 1.00 nats; that of layer 2 only from 1.93 to 1.80 nats.',
  )
  expect(firstLight(run([EMBEDDING, FIRST, [1.93, 1.53, 0.8], [1.42, 1.0, 0.3]]))).toContain(
    'that of layer 2 nearly as much, from 1.93 to 1.53 nats.',
  )
})

test('an entropy that rose beside it is not said to have fallen less', () => {
  expect(firstLight(run([EMBEDDING, FIRST, [1.93, 1.3, 0.81], [1.42, 1.5, 0.32]]))).toContain(
    'that of the final policy did not fall, it went from 1.42 to 1.50 nats.',
  )
})

test('nothing is said without a second phase, of layers that were not measured, or without light', () => {
  const fell = [1.93, 1.3, 0.81]
  expect(firstLight(run([EMBEDDING, FIRST, fell, [1.42, 1.31, 0.32]], [0]))).toBeUndefined()
  expect(firstLight(run([EMBEDDING, undefined, fell, [1.42, 1.31, 0.32]]))).toBeUndefined()
  expect(firstLight(run([EMBEDDING, EMBEDDING, EMBEDDING, [1.42, 1.41, 0.3]]))).toBeUndefined()
})
