// Draws the button that trains the open study; where another one is trained, it asks first.
import { useState } from 'react'
import type { Estimate } from '../../page/paces/estimator.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import type { StudyState } from '../../page/study/study_state.ts'
import { trainStudy } from '../../page/study/study_store.ts'
import { estimateWords } from '../learning/more/estimate.ts'
import { NEEDS_GPU } from '../part/no_gpu.ts'
import { useLab } from '../shown/run.ts'

interface TrainStudyProps {
  readonly others: StudyState['others']
  /** Runs that are still to be trained. */
  readonly missing: number
  /** Some of them are kept in the middle. */
  readonly isBegun: boolean
  readonly time: Estimate | undefined
}

export function TrainStudy({ others, missing, isBegun, time }: TrainStudyProps) {
  const [asks, setAsks] = useState(false)
  const lacksGpu = useLab(selectLacksGpu)
  const trained = others.find(({ is_training }) => is_training)
  if (asks && trained)
    return (
      <span className="study-asks" role="group" aria-label="Train it in place of the other study?">
        <span role="alert" data-testid="study-train-asks">
          “{trained.study.name}” is being trained. It pauses, and keeps its runs.
        </span>
        <button
          type="button"
          data-testid="study-train-yes"
          // The button that was pressed is gone: the focus stays where it was.
          ref={(button) => button?.focus()}
          onClick={trainStudy}
        >
          Train this one in its place
        </button>
        <button type="button" data-testid="study-train-no" onClick={() => setAsks(false)}>
          Leave it
        </button>
      </span>
    )
  return (
    <>
      <button
        type="button"
        className={lacksGpu ? '' : 'primary'}
        data-testid="study-train"
        disabled={lacksGpu}
        onClick={() => (trained ? setAsks(true) : trainStudy())}
      >
        {isBegun ? 'Continue' : 'Train'} {missing} {missing === 1 ? 'run' : 'runs'}
      </button>
      {lacksGpu ? <span className="soft">{NEEDS_GPU}</span> : null}
      {!lacksGpu && time ? (
        <span className="soft study-takes" data-testid="study-takes">
          {estimateWords(time)} on this machine
        </span>
      ) : null}
    </>
  )
}
