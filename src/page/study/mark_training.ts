// Says whether a study is being trained, and remembers it for the next page.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import { remembered } from '../state/remembered.ts'

const training = remembered('study', z.boolean(), false)

/** For what is on the page before any study is. */
export const studyTrainingStore = createStore(() => ({ isTraining: false }))

/** A run that begins meanwhile shares the GPU with it. */
export const selectTrainsStudy = (state: { readonly isTraining: boolean }): boolean =>
  state.isTraining

export function markTraining(isTraining: boolean): void {
  studyTrainingStore.setState({ isTraining })
  if (isTraining) training.set(true)
  else training.forget()
}

/** Whether one was being trained when the page was left. */
export const wasTraining = (): boolean => training.get()
