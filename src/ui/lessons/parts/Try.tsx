// Offers something to try: puts an experiment into the lab, and says what its run shows.
import { CircleCheck, FlaskConical, Play } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { sameSettings } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { decodeLink } from '../../../document/links/link.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { train } from '../../../page/client/controls.ts'
import { openTaught } from '../../../page/client/opening.ts'
import { reset } from '../../../page/client/starting.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import { whyNotAsked } from '../../../record/handed_in/asked.ts'
import { NEEDS_GPU, useHasNoGpu } from '../../part/no_gpu.ts'
import { boardStore, togglePinned } from '../../shown/board.ts'
import { plannedSteps, selectIsBusy, useLab } from '../../shown/run.ts'
import { openTab, showToast } from '../../shown/store.ts'
import type { Checked, TryIt } from '../base/lesson.ts'
import { notYet, runFacts, triedRun } from '../base/run_facts.ts'
import { usePart } from './context.ts'

const selectRunExperiment = (state: LabState) => state.runExperiment
const selectStep = (state: LabState) => state.step
const selectTrace = (state: LabState) => state.trace
const selectVerdicts = (state: LabState) => state.verdicts
const selectIsOver = ({ status }: LabState) => status === 'finished'
const selectAll = (state: LabState) => state

/** What is known of the run on the page. */
interface Present {
  /** What the check says, where it is the run that the check asks for; else why it is not. */
  readonly checked: Checked | undefined
  readonly isAsked: boolean
}

function usePresentRun({ check, link }: TryIt): Present {
  // The columns are mutable: the step is their version.
  useLab(selectStep)
  useLab(selectTrace)
  useLab(selectVerdicts)
  useLab(selectRunExperiment)
  const run = runFacts(useLab(selectAll))
  const document = run?.document
  const whyNot = useMemo(() => document && whyNotAsked(document, link), [document, link])
  if (whyNot !== undefined) return { checked: notYet(whyNot), isAsked: false }
  return { checked: run && check(run), isAsked: run !== undefined }
}

/** How far the lesson's own run is, which the button cannot begin a second time. */
const goingWords = (state: LabState): string =>
  `${state.status === 'paused' ? 'Paused' : 'Running'}: step ${state.step} of ${plannedSteps(state)}`

/** What a lesson has changed is no preset's any more: it is called by the lesson. */
export function calledAs(experiment: Experiment, preset_id: string, title: string): Experiment {
  const preset = presetOf(preset_id)?.experiment
  const isPreset = preset !== undefined && sameSettings(experiment, preset)
  const isNamed = experiment.name !== preset?.name
  return isPreset || isNamed || title === '' ? experiment : { ...experiment, name: title }
}

/** Puts the experiment into the settings and trains it; a run in progress ends, and stays under
 * Runs. */
function start(of: TryIt, title = ''): void {
  const { experiment, preset_id } = decodeLink(of.link)
  const refused = openTaught(calledAs(experiment, preset_id, title), preset_id)
  if (refused !== undefined) {
    showToast(refused)
    return
  }
  reset()
  train()
  if (of.pins !== undefined && !boardStore.getState().pinned.includes(of.pins))
    togglePinned(of.pins)
  // Charts of Learning are what lessons speak of.
  openTab('learn')
}

/** What the run that met the check came to; else how far the run on the page is. */
function Verdict(props: {
  readonly result: string | undefined
  readonly present: Present
  readonly lacksGpu: boolean
  /** The button says how far the run is. */
  readonly isGoing: boolean
}) {
  const { result, present, lacksGpu, isGoing } = props
  const { checked, isAsked } = present
  const isMet = checked?.is_done === true
  const place = useRef<HTMLDivElement>(null)
  const wasMet = useRef(isMet)
  useEffect(() => {
    // A lesson that is opened again begins at its top. Nothing glides: it comes at once.
    if (isMet && !wasMet.current) place.current?.scrollIntoView({ block: 'nearest' })
    wasMet.current = isMet
  }, [isMet])
  const passed = isMet ? checked.says : result
  // Another run says nothing of a part that is done, or that cannot be trained here.
  const saysNothing = !isAsked && (passed !== undefined || lacksGpu)
  const isSaid = isGoing && checked?.isOnlySteps
  const going = isMet || saysNothing || isSaid ? '' : checked?.says
  return (
    <div role="status" ref={place}>
      {passed === undefined ? null : (
        <p className="lesson-right">
          <b>Passed.</b> {passed}
        </p>
      )}
      {going ? <p className="soft">{going}</p> : null}
    </div>
  )
}

/** Remembers what a run came to when it meets the check, and again when it is over. */
function useKept(name: string, { checked }: Present): void {
  const { done, tried, passed } = usePart(name)
  const isOver = useLab(selectIsOver)
  const isMet = checked?.is_done === true
  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions are others in each render, and the words change with every step.
  useEffect(() => {
    if (!isMet) return
    done()
    passed(checked.says, isOver)
    const run = triedRun(labStore.getState())
    if (run) tried(run)
  }, [isMet, isOver])
}

/** The way to what can be done about it. */
function WithoutGpu() {
  const show = async () => {
    const { showNeeds } = await import('../../open/find_gpu.ts')
    openTab('learn')
    showNeeds()
  }
  return (
    <button type="button" data-testid="try-needs" onClick={() => void show()}>
      What training needs
    </button>
  )
}

export function Try({ name, of }: { readonly name: string; readonly of: TryIt }) {
  const { title, isDone, result } = usePart(name)
  const present = usePresentRun(of)
  useKept(name, present)
  const isBusy = useLab(selectIsBusy)
  const isGoing = isBusy && present.isAsked
  const lacksGpu = useHasNoGpu()
  const going = useLab(goingWords)
  const Icon = isDone ? CircleCheck : FlaskConical
  return (
    <section className="lesson-part try" data-testid={`try-${name}`} data-done={isDone}>
      <p>
        <Icon className="icon" aria-hidden="true" /> <b>Try it.</b> {of.does}
      </p>
      <p>
        <button
          type="button"
          data-testid={`start-${name}`}
          disabled={isGoing || lacksGpu}
          onClick={() => start(of, title)}
        >
          <Play className="icon" aria-hidden="true" />{' '}
          {isGoing
            ? going
            : isBusy && !lacksGpu
              ? 'End this run and train it'
              : isDone
                ? 'Train it again'
                : 'Train it'}
        </button>
        {lacksGpu ? <WithoutGpu /> : null}
      </p>
      {lacksGpu ? <p className="soft">{NEEDS_GPU}.</p> : null}
      {/* Earlier versions kept that it was passed, and not with what. */}
      <Verdict result={isDone ? (result ?? '') : undefined} {...{ present, lacksGpu, isGoing }} />
    </section>
  )
}
