// Tests the buttons that lead from a traced step to what it lacks: newer responses, and a look.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TokenTable } from '../../../host/protocol/results.ts'
import { applyEvent } from '../../../page/events/apply.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { lookStore } from '../../look/look_now.ts'
import { shownStore, viewStore } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { holdTrace, readTrace, tokensStore } from '../base/view.ts'
import { Inspector } from './Inspector.tsx'

/** What the colour means begins so. */
const HELP = 'How much better (orange)'
const text = { prompt: '1+2=', response: '3', ground_truth: '3', score: 1, is_ended: true }
const table = {
  samples: [
    {
      ...text,
      tokens: ['3', '<eos>'],
      columns: { advantages: [1, 1] },
      group: { rewards: [1], lengths: [2], place: 0 },
    },
  ],
  updates: 1,
  phase: {
    name: 'rl',
    kind: 'rl',
    adv_estimator: 'grpo',
    reward_model: { enable: false },
    rollout: { train_batch_size: 1, n: 1 },
  },
} as unknown as TokenTable

/** What is drawn where the newest samples were asked for in the run that kept this. */
const drawnOf = (newestSamplesOf: KeptOfRun | undefined): string => {
  tokensStore.setState({ newestSamplesOf })
  return renderToStaticMarkup(<Inspector />)
}

beforeEach(() => {
  const traced = applyEvent(initialState(), { type: 'trace', run: 0, step: 3, table }, 0)
  traced.kept.samples.push(5, [{ ...text, advantage: 1, response_length: 2 }], 9)
  labStore.setState({ ...traced, step: 5 }, true)
  // Static markup shows what a store began with.
  for (const store of [labStore, viewStore, shownStore, uiStore, tokensStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  tokensStore.setState({ newestSamplesOf: undefined })
  labStore.setState(initialState(), true)
})

test('the button leads there and back, and no colour is explained where there is none', () => {
  const before = drawnOf(undefined)
  expect(before).toContain('Responses of step 5, uncoloured')
  expect(before).toContain(HELP)
  const after = drawnOf(labStore.getState().kept)
  expect(after).toContain('Back to the traced step 3')
  expect(after).not.toContain(HELP)
})

test('the choice is of one run', () => {
  expect(drawnOf(initialState().kept)).toContain('Responses of step 5, uncoloured')
})

test('after a run a look at its last state is offered for the entropies of its layers', () => {
  vi.spyOn(tokensStore, 'getInitialState').mockImplementation(tokensStore.getState)
  const checkpoints = [{ step: 5 }] as unknown as LabState['checkpoints']
  labStore.setState({ status: 'finished', record: 'a', checkpoints })
  tokensStore.setState({ mode: 'layer_entropy' })
  expect(drawnOf(undefined)).toContain('Look at the state after step 5')
  labStore.setState({ status: 'running' })
  expect(drawnOf(undefined)).toContain('Steps that are traced while this colour is chosen')
  expect(drawnOf(undefined)).not.toContain('look-at-last')
  tokensStore.setState({ mode: 'advantages' })
})

test('a look from the tokens takes the place of the step that is being read', () => {
  const look = { record: 'a', isBusy: true, words: '', step: undefined }
  const lookFrom = (tab: 'tokens' | 'inside') => {
    uiStore.setState({ tab })
    lookStore.setState({ look })
    lookStore.setState({ look: { ...look, isBusy: false, step: 5 } })
    return tokensStore.getState().held?.trace.step
  }
  holdTrace()
  expect(lookFrom('inside')).toBe(3)
  expect(lookFrom('tokens')).toBeUndefined()
})

test('a step that a look took says so, with the way back to the last one of the run', () => {
  labStore.setState(
    applyEvent(labStore.getState(), { type: 'trace', run: 0, step: 6, table }, 0),
    true,
  )
  labStore.setState({ status: 'finished', record: 'a' })
  expect(drawnOf(undefined)).toMatch(/A look at the state after step 5.*Back to step 3/)
  // Of a run that is on it is a step like any other.
  labStore.setState({ status: 'running' })
  expect(drawnOf(undefined)).not.toContain('A look at the state')
  // Step 3 again: the look is newer, and stays away until it is asked for.
  labStore.setState({ status: 'finished' })
  const { kept } = labStore.getState()
  const trace = kept.traces.at(5)
  if (trace) readTrace(kept, trace)
  expect(drawnOf(undefined)).not.toContain('A look at the state')
  expect(drawnOf(undefined)).toContain('Show the newest')
  tokensStore.setState({ held: undefined })
})
