// Says what the sender of a link got, and asks to train it here.
import { useStore } from 'zustand'
import { GREEDY_ACCURACY, lastOf } from '../../document/links/shared_result.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import { formatShare } from '../kit/format.ts'

const selectResult = ({ result }: ShareState) => result

export function Sent() {
  const result = useStore(shareStore, selectResult)
  if (!result) return null
  const accuracy = lastOf(result, GREEDY_ACCURACY)
  return (
    <>
      {accuracy === undefined
        ? `The sender trained this for ${result.steps} steps. Train it here and compare.`
        : `The sender’s run solves ${formatShare(accuracy)} of new problems. Train it here and compare.`}
    </>
  )
}
