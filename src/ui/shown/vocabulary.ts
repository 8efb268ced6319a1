// Finds the vocabulary of the run that the page shows, or of the settings before there is a run.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { type Vocabulary, vocabularyOf } from '../../host/protocol/vocabulary.ts'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { shownExperiment } from './run.ts'
import { useIsPast, useShown } from './shown.ts'

const selectTask = (state: LabState) => shownExperiment(state).task
const selectTokens = (state: LabState) => state.tokens
const selectReplayed = ({ recording }: ReplayState) => recording?.tokens

/** What the shown model reads and writes: as the record or the recording says it, else the
 * task's. */
export function useVocabulary(): Vocabulary {
  const task = useShown(selectTask)
  const recorded = useShown(selectTokens)
  const replayed = useStore(replayStore, selectReplayed)
  const isPast = useIsPast()
  const tokens = recorded ?? (isPast ? undefined : replayed)
  return useMemo(() => vocabularyOf(task, tokens), [task, tokens])
}
