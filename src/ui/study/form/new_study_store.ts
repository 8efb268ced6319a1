// Holds the study that is being made: it stays as it is typed while another tab is shown.
import { createStore } from 'zustand/vanilla'
import type { Draft } from '../../../document/study/draft/draft.ts'
import type { ChosenArm } from './arm_names.ts'

interface Typed {
  readonly draft: Draft
  readonly chosen: readonly ChosenArm[]
}

interface NewStudyState {
  readonly isOpen: boolean
  /** Undefined until something is changed: an untouched form begins with what is ticked then. */
  readonly typed: Typed | undefined
}

const NONE: NewStudyState = { isOpen: false, typed: undefined }

export const newStudyStore = createStore<NewStudyState>(() => NONE)

/** Closes the form and forgets what was typed. */
export const endNewStudy = (): void => newStudyStore.setState(NONE)
