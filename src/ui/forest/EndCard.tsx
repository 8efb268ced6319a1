// Says above the charts what a preset is known to do, and when its run is over what came of it and
// what to do next.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import type { Generation } from '../../host/protocol/results.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import { libraryStore, shownRuns } from '../../page/runs/library/library_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { changedWords, type WordRun } from '../kit/changed_words.ts'
import { ScoreSign } from '../kit/ScoreSign.tsx'
import { t } from '../kit/translator.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { isProse } from '../part/prose.ts'
import { posedWords, selectTask } from '../shown/measure/main_measure.ts'
import { usePresent } from '../shown/shown.ts'
import { controlSays, insideSays, settingsOfBoth } from './control_result.ts'
import { type Example, type Examples, examplesOf } from './examples.ts'
import { Next } from './Next.tsx'
import { captionLines, phaseCaptions } from './says/captions.ts'
import { firstLight } from './says/first_light.ts'
import { onTheWay } from './says/on_the_way.ts'
import './end_card.css'

const WhatToSee = lazyPart(async () => (await import('../learning/WhatToSee.tsx')).WhatToSee, {
  name: 'What other seeds showed',
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
  const captions = phaseCaptions(state).map((caption) => captionLines(t(caption)))
  const between = onTheWay(state)
  const happened = between.length > 0 ? [...captions, ['On the way', ...between].map(t)] : captions
  const light = firstLight(state)
  const runs = useStore(libraryStore, shownRuns)
  const compared = useMemo(() => controlSays(state, runs), [state, runs])
  const inside = useMemo(() => insideSays(state, runs), [state, runs])
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
        {inside === undefined ? null : (
          <p className="figure-says" data-testid="inside-says">
            <Words text={inside} />
          </p>
        )}
        {happened.length > 0 ? <h2>What happened</h2> : null}
        {light === undefined ? null : (
          <p className="figure-says" data-testid="first-light">
            <Words text={light} />
          </p>
        )}
        <ol>
          {happened.map((lines) => (
            <Caption key={lines.join()} lines={lines} />
          ))}
        </ol>
        <Next state={state} both={both} />
      </div>
    </>
  )
}

/** What a phase did, or what happened on the way: its name, and a line for every sentence. */
function Caption({ lines: [head, ...says] }: { readonly lines: readonly string[] }) {
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

/** Which problems are shown. */
function titleOf(examples: readonly Example[], posed: string, reads: boolean): string {
  if (examples.every(({ before }) => before.score < 1))
    return reads
      ? `New ${posed} it got wrong at first, what changed marked`
      : `New ${posed} it got wrong at first`
  return reads
    ? `Some new ${posed}, before and after, what changed marked`
    : `Some new ${posed}, before and after`
}

/** The same problems before the run and after it. */
function Answers() {
  const state = usePresent(selectAll)
  const found = examplesOf(state, EXAMPLES)
  if (!found) return null
  const [before, after] = found.steps
  const posed = posedWords(selectTask(state))
  const reads = found.examples.some(({ after }) => isProse(after.output))
  const hasTruth = !reads && found.examples.every(({ after }) => after.gts !== '')
  return (
    <table className={reads ? 'end-answers end-prose' : 'end-answers'} data-testid="end-answers">
      <caption>{titleOf(found.examples, posed, reads)}</caption>
      <thead>
        <tr>
          <th scope="col">{posed === 'stories' ? 'story' : 'problem'}</th>
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
