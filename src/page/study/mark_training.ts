// Remembers whether a study is being trained, for the next page.
import * as z from 'zod/mini'
import { remembered } from '../state/remembered.ts'

const training = remembered('study', z.boolean(), false)

export function markTraining(isTraining: boolean): void {
  if (isTraining) training.set(true)
  else training.forget()
}

/** Whether one was being trained when the page was left. */
export const wasTraining = (): boolean => training.get()
