// Says what Train would take, and beside what it would run.
import { useStore } from 'zustand'
import type { LabState } from '../../page/state/store.ts'
import { selectTrainsStudy, studyTrainingStore } from '../../page/study/mark_training.ts'
import { formatBytes } from '../kit/format.ts'
import { useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { useEstimate } from './more/estimate.ts'

const selectExperiment = ({ experiment }: LabState) => experiment
/** As long as nothing is trained. */
const selectPlanned = ({ status, plan }: LabState) =>
  status === 'idle' || status === 'finished' || status === 'failed' ? plan : undefined
const selectIsFirst = ({ status }: LabState) => status === 'idle'

export function Planned() {
  const planned = usePresent(selectPlanned)
  const isFirst = usePresent(selectIsFirst)
  const time = useEstimate(useLab(selectExperiment))
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  if (!planned) return null
  const takes = trainsStudy
    ? 'A run beside it shares the GPU: both are slower.'
    : `${isFirst ? 'It takes' : 'The next run takes'} ${time ? `${time.words} and ` : ''}${formatBytes(planned.bytes)} of GPU memory.`
  return (
    <p
      className="soft planned"
      data-testid="planned-bytes"
      data-bytes={planned.bytes}
      title={takes}
    >
      {takes}
    </p>
  )
}
