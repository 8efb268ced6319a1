// Says at a glance how the run is: a word, a shape and a colour.
import {
  Activity,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleStop,
  CircleX,
  Hand,
  LoaderCircle,
  type LucideIcon,
} from 'lucide-react'
import { useStore } from 'zustand'
import { wrongFields } from '../../page/client/edits.ts'
import { replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { selectTrainsStudy, studyTrainingStore } from '../../page/study/mark_training.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { useOpenedEntry } from '../open/opened_run.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { later } from '../part/later.tsx'
import { plannedSteps, selectIsBusy, selectStatus, useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'

const STATUS: Readonly<
  Record<LabState['status'], { readonly says: string; readonly Icon: LucideIcon }>
> = {
  loading: { says: 'opening the GPU', Icon: LoaderCircle },
  idle: { says: 'ready', Icon: CircleDashed },
  preparing: { says: 'preparing', Icon: LoaderCircle },
  running: { says: 'training', Icon: Activity },
  paused: { says: 'paused', Icon: CirclePause },
  waiting: { says: 'waiting for verdicts', Icon: Hand },
  finished: { says: 'finished', Icon: CircleCheck },
  failed: { says: 'stopped by an error', Icon: CircleX },
  stopped: { says: 'stopped', Icon: CircleStop },
}

/** Values that are typed and do not hold: Train waits for them. */
const wrongOf = (count: number) => ({
  says: count === 1 ? 'a setting is wrong' : `${count} settings are wrong`,
  Icon: CircleAlert,
})

/** While a recording plays. */
const REPLAYED: Partial<Record<LabState['status'], string>> = {
  preparing: 'replaying',
  running: 'replaying',
  finished: 'replayed',
}

const PastStatus = later(
  'The status of the past run',
  async () => (await import('./more/PastStatus.tsx')).PastStatus,
)

const Planned = later('What Train takes', async () => (await import('./Planned.tsx')).Planned)

const selectHasSteps = (state: LabState) => state.series.size > 0
/** Every step is taken, and held-out problems are answered once more. */
const selectIsAtEnd = (state: LabState) => state.step > 0 && state.step >= plannedSteps(state)
const selectIsPausing = ({ isPausing }: LabState) => isPausing
const selectWrong = (state: LabState) => (isBusy(state) ? 0 : wrongFields(state).length)
const selectMessage = (state: LabState) => state.message

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** A pause comes after the step in flight, which may take seconds. */
const pausingWords = (status: LabState['status']): string =>
  status === 'preparing' ? 'will pause when ready' : 'pausing after this step'

export function Status() {
  const status = usePresent(selectStatus)
  const message = usePresent(selectMessage)
  const hasSteps = usePresent(selectHasSteps)
  const isAtEnd = usePresent(selectIsAtEnd)
  const isPausing = usePresent(selectIsPausing)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const past = useOpenedEntry()
  const lacksGpu = useLab(selectLacksGpu)
  const isOn = useLab(selectIsBusy)
  const wrong = useLab(selectWrong)
  const isWrong = wrong > 0 && !past
  const { says, Icon } = lacksGpu ? STATUS.idle : isWrong ? wrongOf(wrong) : STATUS[status]
  const measuring = isAtEnd ? 'measuring the end' : !hasSteps ? 'measuring step 0' : says
  const begun = status === 'running' ? measuring : says
  const doing = status === 'preparing' && message ? lowerFirst(message) : begun
  const trainsStudy = useStore(studyTrainingStore, selectTrainsStudy)
  const both = isOn || isWrong ? `${doing}, and a study trains` : 'a study is training'
  const own = trainsStudy ? both : doing
  const Shown = trainsStudy && !isOn && !isWrong ? Activity : Icon
  const moment = isPausing ? pausingWords(status) : lacksGpu ? 'no GPU here' : own
  const shownStatus = lacksGpu ? 'no_gpu' : isWrong ? 'wrong' : status
  const replayed = isReplaying ? (REPLAYED[status] ?? moment) : undefined
  return (
    <div className="status-line">
      {past ? (
        <PastStatus {...{ past, status: shownStatus, Icon, says: replayed }} />
      ) : (
        <p className="status" data-testid="status" data-status={shownStatus}>
          <Shown className="icon" aria-hidden="true" />
          <span>{replayed ?? moment}</span>
        </p>
      )}
      {isReplaying || lacksGpu || past || isWrong ? null : <Planned />}
    </div>
  )
}
