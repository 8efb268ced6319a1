// Offers what to do next when a run is over: something to train, and a lesson.
import { BookOpen, Play } from 'lucide-react'
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { train } from '../../page/client/controls.ts'
import { openExperiment } from '../../page/client/opening.ts'
import { type Estimator, estimatorStore } from '../../page/paces/estimator.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { settledSettings } from '../../page/state/next_experiment.ts'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { t } from '../kit/translator.ts'
import { estimateWords } from '../learning/more/estimate.ts'
import { leftOf } from '../lessons/base/left.ts'
import { progressOf, progressStore } from '../lessons/base/progress.ts'
import { canRestart } from '../open/actions.ts'
import { useWritable, WriteWithShown } from '../open/models/WriteWithIt.tsx'
import { openLesson, openLessonStore } from '../open/open_lesson.ts'
import { leaveRecording, selectIsReplaying } from '../open/replays.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { tickBehind } from '../runs/base/selection.ts'
import { selectIsBusy, selectIsEdited, useLab } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'
import type { settingsOfBoth } from './control_result.ts'
import { nextStep } from './next_step.ts'
import { gotWorse, nextLesson } from './says/captions.ts'

const StudyOfBoth = lazyPart(async () => (await import('./StudyOfBoth.tsx')).StudyOfBoth, {
  name: 'The study of both',
  fallback: null,
})

const selectAdapter = ({ adapter }: LabState) => adapter
const selectEstimate = ({ estimate }: { readonly estimate: Estimator }) => estimate
const selectOwnAdapter = ({ own }: ReplayState) => own
const selectOpen = ({ open }: { readonly open: string | undefined }) => open
const selectRecorded = ({ recording }: ReplayState) => recording?.experiment

/** Leaves the recording and trains its experiment in its place. */
function trainRecorded(): void {
  const { recording } = replayStore.getState()
  if (!recording) return
  const { experiment } = recording
  leaveRecording()
  const refused = openExperiment(experiment, experiment.name ?? 'the recorded run')
  if (refused === undefined) train()
  else showToast(refused)
}

/** What is to be known before the next step is trained. */
function noteWords(says: string | undefined, why: string | undefined, isEdited: boolean): string {
  if (why !== undefined) return t(why)
  return [says, isEdited ? DROPS : undefined]
    .filter(Boolean)
    .map((line) => t(`${line}`))
    .join(' ')
}

const BUSY = 'Another run is in progress, and this one would end it.'
const HELD_BACK = 'A setting holds a value that it does not take. Correct it or put it back first.'
const DROPS = 'It takes the place of what was changed in the settings since; undo brings that back.'

type Both = ReturnType<typeof settingsOfBoth>

interface NextProps {
  readonly state: LabState
  readonly both: Both
}

/** What to do after a run, or after a recording of one. */
export function Next(props: NextProps) {
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const left = useLessonLeft()
  return (
    <div className="end-next">
      {isReplaying ? (
        <AfterRecording state={props.state} />
      ) : left > 0 ? (
        <>
          <GoOn left={left} />
          <WriteWithShown />
        </>
      ) : (
        <AfterRun {...props} />
      )}
    </div>
  )
}

/** The recorded run, trained here; where this machine has a GPU. */
function AfterRecording({ state }: Pick<NextProps, 'state'>) {
  const own = useStore(replayStore, selectOwnAdapter)
  const estimate = useStore(estimatorStore, selectEstimate)
  const recorded = useStore(replayStore, selectRecorded)
  const time = own && recorded && estimate(own, recorded)
  return (
    <>
      {own ? (
        <button type="button" className="primary" data-testid="train-now" onClick={trainRecorded}>
          <Play className="icon" aria-hidden="true" />{' '}
          {time
            ? `Now train it on this machine (${t(estimateWords(time))})`
            : 'Now train it on this machine'}
        </button>
      ) : null}
      <LessonButton state={state} isFirst={!own} />
      <WriteWithShown />
    </>
  )
}

/** How many questions and experiments of the open lesson are left; 0 without one. */
function useLessonLeft(): number {
  const open = useStore(openLessonStore, selectOpen)
  const progress = useStore(progressStore)
  return open === undefined ? 0 : (leftOf(open, progressOf(progress, open))?.count ?? 0)
}

/** Brings the first part of the open lesson that is not done into sight. */
function goOn(): void {
  const part = document.querySelector('.lessons .lesson-part[data-done="false"]')
  part?.scrollIntoView({ block: 'center' })
  part?.querySelector<HTMLElement>('input, button')?.focus({ preventScroll: true })
}

/** While a lesson is open it says what comes next. */
function GoOn({ left }: { readonly left: number }) {
  return (
    <button type="button" className="primary" data-testid="go-on" onClick={goOn}>
      <BookOpen className="icon" aria-hidden="true" /> {`Go on with the lesson (${left} left)`}
    </button>
  )
}

/** Goes on with the open lesson; else to one that says more about what a run was. */
function LessonButton({
  state,
  isFirst,
}: Pick<NextProps, 'state'> & { readonly isFirst: boolean }) {
  const [lesson, words] = nextLesson(state)
  const left = useLessonLeft()
  if (left > 0) return <GoOn left={left} />
  return (
    <button
      type="button"
      className={isFirst ? 'primary' : 'plain'}
      data-testid="next-lesson"
      onClick={() => openLesson(lesson)}
    >
      <BookOpen className="icon" aria-hidden="true" /> {words}
    </button>
  )
}

/** A study of a run and its control; one thing to train, where something takes little time here;
 * and the lesson that says more. Where nothing takes little time, a press writes with the model. */
function AfterRun({ state, both }: NextProps) {
  const adapter = useLab(selectAdapter)
  const estimate = useStore(estimatorStore, selectEstimate)
  const isBusy = useLab(selectIsBusy)
  const mayRestart = useLab(canRestart)
  const isEdited = useLab(selectIsEdited)
  const worse = gotWorse(state) ? (state.runPreset ?? state.preset_id) : undefined
  const canWrite = useWritable() !== ''
  const step = useMemo(() => {
    const { runDocument, runExperiment } = state
    if (!runDocument || !runExperiment || !adapter) return undefined
    const run = { document: runDocument, experiment: settledSettings(runExperiment, state) }
    return nextStep(run, (experiment) => estimate(adapter, experiment), worse)
  }, [state, adapter, estimate, worse])
  const go = () => {
    const { living } = libraryStore.getState()
    const refused = step && openExperiment(step.experiment, step.name)
    if (refused !== undefined) return showToast(refused)
    train()
    if (!step?.isControl || living === undefined) return
    // The run that it is compared with stays in sight on every chart.
    tickBehind(living)
  }
  return (
    <>
      {both ? <StudyOfBoth both={both} /> : null}
      {step ? (
        <button
          type="button"
          className={both ? 'plain' : 'primary'}
          data-testid="next-step"
          disabled={isBusy || !mayRestart}
          onClick={go}
        >
          <Play className="icon" aria-hidden="true" /> {step.words} ({estimateWords(step.estimate)})
        </button>
      ) : null}
      <WriteWithShown isPrimary={!step && !both} />
      <LessonButton state={state} isFirst={!step && !both && !canWrite} />
      {step ? (
        <p className="soft">
          {noteWords(step.says, isBusy ? BUSY : mayRestart ? undefined : HELD_BACK, isEdited)}
        </p>
      ) : null}
    </>
  )
}
