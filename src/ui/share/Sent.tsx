// Says what the sender of a link got, and asks to train it here.
import { useStore } from 'zustand'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import { posedWords } from '../shown/measure/main_measure.ts'
import { sentEnd } from './sent_measure.ts'

const selectSent = (state: ShareState) => state

export function Sent() {
  const { result, experiment } = useStore(shareStore, selectSent)
  if (!result) return null
  const end = sentEnd(result, experiment)
  if (!end)
    return <>{`The sender trained this for ${result.steps} steps. Train it here and compare.`}</>
  const { asked, isReward, text } = end
  const posed = posedWords(experiment.task)
  return (
    <>
      {asked
        ? `The sender’s run came to this. ${asked.label}: ${text} of new ${posed}, sampled. Train it here and compare.`
        : isReward
          ? `The sender’s run earns a reward of ${text} for sampled answers to new ${posed}. Train it here and compare.`
          : `The sender’s run solves ${text} of new problems. Train it here and compare.`}
    </>
  )
}
