// Holds what is wrong with a way to open a model, until another way is tried.
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { type OpenedModelState, openedModelStore } from '../../../page/opened/opened_model.ts'

const selectIsBusy = ({ isBusy }: OpenedModelState) => isBusy

export function useProblem(askedBy: OpenedModelState['askedBy']) {
  const [problem, setProblem] = useState<string>()
  const isBusy = useStore(openedModelStore, selectIsBusy)
  useEffect(() => {
    if (isBusy) setProblem(undefined)
  }, [isBusy])
  /** It takes the place of what was wrong with the attempt before, and what comes of this one is
   * said in the same place. */
  const say = (problem: string | undefined) => {
    openedModelStore.setState({ problem: undefined, askedBy })
    setProblem(problem)
  }
  return [problem, say] as const
}
