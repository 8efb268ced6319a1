import { afterEach, expect, test } from 'vitest'
import { PRESETS } from '../../document/presets/presets.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { closeLab, openLab } from '../../page/client/lab.ts'
import { uiStore } from '../shown/store.ts'
import { followRefusals } from './refusals.ts'

interface Heard {
  readonly data: LabEvent
  readonly message?: string
}

afterEach(() => {
  closeLab()
  uiStore.setState({ toast: '' })
})

test('what a run refuses is said in a toast, and what it does is not', () => {
  let hear: (event: Heard) => void = () => {}
  openLab(
    () => ({
      postMessage: () => {},
      terminate: () => {},
      addEventListener: (type: string, listener: (event: Heard) => void) => {
        if (type === 'message') hear = listener
      },
    }),
    {
      address: 'https://understory.example/',
      query: '',
      hash: '',
      replaceQuery: () => {},
      nextFrame: () => {},
      recall: () => undefined,
      remember: () => {},
      now: () => 0,
    },
  )
  uiStore.setState({ toast: '' })
  const stop = followRefusals()
  const steered = {
    type: 'steered',
    run: 0,
    entry: { step: 3, kind: 'repeat_phase' },
    experiment: PRESETS[0].experiment,
    steering: [],
  } as const
  hear({ data: steered })
  expect(uiStore.getState().toast).toBe('')
  const refused = 'phases: expected at most 16 phases'
  hear({ data: { ...steered, refused } })
  expect(uiStore.getState().toast).toBe(`Not done: phase repeated. ${refused}`)
  stop()
  uiStore.setState({ toast: '' })
  hear({ data: { ...steered, refused } })
  expect(uiStore.getState().toast).toBe('')
})
