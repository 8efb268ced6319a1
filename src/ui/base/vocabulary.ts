// The vocabulary of the run that the page shows, or of the settings before there is a run.
import { useMemo } from 'react'
import type { LabState } from '../../lab/page/store.ts'
import { type Vocabulary, vocabularyOf } from '../../lab/protocol/vocabulary.ts'
import { shownExperiment } from './run.ts'
import { useShown } from './shown.ts'

const selectTask = (state: LabState) => shownExperiment(state).task
const selectTokens = (state: LabState) => state.tokens

/** What the shown model reads and writes. */
export function useVocabulary(): Vocabulary {
  const task = useShown(selectTask)
  const tokens = useShown(selectTokens)
  return useMemo(() => vocabularyOf(task, tokens), [task, tokens])
}
