// Holds what is typed in the dialog of a model, so that another state of the model can be asked the
// same.
import { createStore } from 'zustand/vanilla'
import type { WritingSettings } from '../../../../host/protocol/opened_model.ts'

interface Typed {
  readonly text: string
  readonly settings: WritingSettings
}

export const typedStore = createStore<{ readonly typed: Typed | undefined }>(() => ({
  typed: undefined,
}))
