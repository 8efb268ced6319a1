// Says above the charts what a preset is known to do, and when its run is over what came of it and
// what to do next.
import { BookOpen, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import type { Generation } from '../../host/protocol/results.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import { train } from '../../page/client/controls.ts'
import { openExperiment } from '../../page/client/opening.ts'
import { estimatorStore } from '../../page/paces/estimator.ts'
import { libraryStore, shownRuns } from '../../page/runs/library/library_store.ts'
import { settledSettings } from '../../page/state/next_experiment.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { changedWords, type WordRun } from '../kit/changed_words.ts'
import { ScoreSign } from '../kit/ScoreSign.tsx'
import { t } from '../kit/translator.ts'
import { estimateWords } from '../learning/estimate.ts'
import { canRestart } from '../open/actions.ts'
import { WriteWithShown } from '../open/models/WriteWithIt.tsx'
import { openLesson } from '../open/open_lesson.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { isProse } from '../part/prose.ts'
import { selectionStore, tick } from '../runs/base/selection.ts'
import { selectIsBusy, selectIsEdited, useLab } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'
import { showToast } from '../shown/store.ts'
import { captionLines, gotWorse, nextLesson, phaseCaptions } from './captions.ts'
import { controlSays, settingsOfBoth } from './control_result.ts'
import { type Example, type Examples, examplesOf } from './examples.ts'
import { nextStep } from './next_step.ts'
import './end_card.css'

const WhatToSee = lazyPart(async () => (await import('../learning/WhatToSee.tsx')).WhatToSee, {
  name: 'What other seeds showed',
  fallback: null,
})

const StudyOfBoth = lazyPart(async () => (await import('./StudyOfBoth.tsx')).StudyOfBoth, {
  name: 'The study of both',
  fallback: null,
})

/** The preset that was trained, where nothing of it was changed but its seed. */
const presetOf = (runExperiment: LabState['runExperiment']) =>
  runExperiment &&
  PRESETS.find(({ experiment }) =>
    sameSettings({ ...experiment, seed: runExperiment.seed }, runExperiment),
  )
const selectOfRun = ({ runExperiment }: LabState) => runExperiment
const selectIsOver = ({ status }: LabState) => status === 'finished'
const selectAll = (state: LabState) => state
const selectAdapter = ({ adapter }: LabState) => adapter

const EXAMPLES = 3

export function EndCard() {
  const isOver = usePresent(selectIsOver)
  const runExperiment = usePresent(selectOfRun)
  const preset = useMemo(() => presetOf(runExperiment), [runExperiment])
  const [isOpen, setOpen] = useState(false)
  if (!isOver && !preset) return null
  return (
    <section className={isOver ? 'card end-card' : 'intro'} data-testid="end-card">
      {isOver ? <Outcome /> : null}
      {preset ? (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{isOver ? 'What it came to with several seeds' : 'What you should see'}</summary>
          {isOpen ? <WhatToSee id={preset.id} /> : null}
        </details>
      ) : null}
    </section>
  )
}

function Outcome() {
  const state = usePresent(selectAll)
  const captions = phaseCaptions(state)
  const runs = useStore(libraryStore, shownRuns)
  const compared = useMemo(() => controlSays(state, runs), [state, runs])
  const both = useMemo(() => settingsOfBoth(state, runs), [state, runs])
  return (
    <>
      <Answers />
      <div className="end-says">
        {compared === undefined ? null : (
          <p className="figure-says" data-testid="control-says">
            {compared}
          </p>
        )}
        {captions.length > 0 ? <h2>What happened</h2> : null}
        <ol>
          {captions.map((caption) => (
            <Caption key={caption} text={t(caption)} />
          ))}
        </ol>
        <Next state={state} both={both} />
      </div>
    </>
  )
}

/** What a phase did: its name, and a line for every sentence. */
function Caption({ text }: { readonly text: string }) {
  const [head, ...says] = captionLines(text)
  return (
    <li>
      <h3>
        <Words text={head} />
      </h3>
      {says.map((line) => (
        <p key={line}>
          <Words text={line} />
        </p>
      ))}
    </li>
  )
}

/** The same problems before the run and after it. */
function Answers() {
  const found = examplesOf(usePresent(selectAll), EXAMPLES)
  if (!found) return null
  const [before, after] = found.steps
  const reads = found.examples.some(({ after }) => isProse(after.output))
  const hasTruth = !reads && found.examples.every(({ after }) => after.gts !== '')
  return (
    <table className={reads ? 'end-answers end-prose' : 'end-answers'} data-testid="end-answers">
      <caption>New problems, before and after{reads ? ', what changed marked' : ''}</caption>
      <thead>
        <tr>
          <th scope="col">problem</th>
          <th scope="col">step {before}</th>
          <th scope="col">step {after}</th>
          {hasTruth ? <th scope="col">right</th> : null}
        </tr>
      </thead>
      <tbody>
        {found.examples.map((example) => (
          <Row
            key={example.after.input}
            example={example}
            steps={found.steps}
            truth={hasTruth ? example.after.gts : undefined}
          />
        ))}
      </tbody>
    </table>
  )
}

function Row(props: {
  readonly example: Example
  readonly steps: Examples['steps']
  /** The right answer, where problems have one. */
  readonly truth: string | undefined
}) {
  const { before, after } = props.example
  const [then, now] = [shownText(before.output), shownText(after.output)]
  const marked = isProse(then) && isProse(now) ? changedWords(then, now) : undefined
  return (
    <tr>
      <th scope="row">{shownText(after.input)}</th>
      <Answer answer={before} step={props.steps[0]} runs={marked?.before} />
      <Answer
        answer={after}
        step={props.steps[1]}
        runs={marked?.after}
        isStill={before.score < 1 && after.score < 1}
      />
      {props.truth === undefined ? null : <td className="soft">{shownText(props.truth)}</td>}
    </tr>
  )
}

/** `runs`: its text, where the words are told apart that the other answer lacks. */
function Answer(props: {
  readonly answer: Generation
  readonly step: number
  readonly runs: readonly WordRun[] | undefined
  /** It was not right before either. */
  readonly isStill?: boolean
}) {
  const { answer, step, runs, isStill = false } = props
  return (
    <td data-step={step}>
      <span className="response">
        {answer.output === ''
          ? '(nothing)'
          : (runs?.map(({ text, isChanged }, i) =>
              // Runs have no other identity than their place.
              isChanged ? <mark key={i}>{text}</mark> : <span key={i}>{text}</span>,
            ) ?? shownText(answer.output))}
      </span>{' '}
      <ScoreSign score={answer.score} />
      {isStill ? (
        <span className="soft"> {answer.score > 0 ? 'not wholly right yet' : 'still wrong'}</span>
      ) : null}
      <span className="visually-hidden">score {answer.score}</span>
    </td>
  )
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

/** A study of a run and its control; one thing to train, where something takes little time here;
 * and the lesson that says more. */
function Next({ state, both }: { readonly state: LabState; readonly both: Both }) {
  const adapter = useLab(selectAdapter)
  const estimate = useStore(estimatorStore, (store) => store.estimate)
  const isBusy = useLab(selectIsBusy)
  const mayRestart = useLab(canRestart)
  const isEdited = useLab(selectIsEdited)
  const worse = gotWorse(state) ? state.preset_id : undefined
  const step = useMemo(() => {
    const { runDocument, runExperiment } = state
    if (!runDocument || !runExperiment || !adapter) return undefined
    const run = { document: runDocument, experiment: settledSettings(runExperiment, state) }
    return nextStep(run, (experiment) => estimate(adapter, experiment), worse)
  }, [state, adapter, estimate, worse])
  const [lesson, words] = nextLesson(state)
  const go = () => {
    const { living } = libraryStore.getState()
    const refused = step && openExperiment(step.experiment, step.name)
    if (refused !== undefined) return showToast(refused)
    train()
    if (!step?.isControl || living === undefined) return
    // The run that it is compared with stays in sight on every chart.
    tick(living, true)
    selectionStore.setState({ isBehind: true })
  }
  return (
    <div className="end-next">
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
      <button
        type="button"
        className={step || both ? 'plain' : ''}
        data-testid="next-lesson"
        onClick={() => openLesson(lesson)}
      >
        <BookOpen className="icon" aria-hidden="true" /> {words}
      </button>
      <WriteWithShown />
      {step ? (
        <p className="soft">
          {noteWords(step.says, isBusy ? BUSY : mayRestart ? undefined : HELD_BACK, isEdited)}
        </p>
      ) : null}
    </div>
  )
}
