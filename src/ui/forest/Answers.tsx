// Draws answers of a run to the same problems before it and after it; of texts that are read, their
// last passages, and the rest of one where it is asked for.
import { useState } from 'react'
import type { Generation } from '../../host/protocol/results.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import type { LabState } from '../../page/state/store.ts'
import { changedWords, type WordRun } from '../kit/changed_words.ts'
import { formatNumber } from '../kit/format.ts'
import { ScoreSign } from '../kit/ScoreSign.tsx'
import { isProse } from '../part/prose.ts'
import { selectIsJudged } from '../shown/measure/judged.ts'
import { posedWords, selectTask } from '../shown/measure/main_measure.ts'
import { usePresent } from '../shown/shown.ts'
import { type Example, type Examples, examplesOf } from './examples.ts'
import { CUT, lastPassage, lastRuns } from './passage.ts'

const EXAMPLES = 3
const selectAll = (state: LabState) => state

const areRead = ({ examples }: Examples): boolean =>
  examples.some(({ after }) => isProse(after.output))

/** Whether the answers of a run are texts that are read, as stories are. */
export function readsAnswers(state: LabState): boolean {
  const found = examplesOf(state, EXAMPLES)
  return found !== undefined && areRead(found)
}

/** Which problems are shown. */
function titleOf(
  examples: readonly Example[],
  { posed, reads, isJudged }: { posed: string; reads: boolean; isJudged: boolean },
): string {
  if (isJudged && examples.every(({ before }) => before.score < 1))
    return reads
      ? `New ${posed} it got wrong at first, what changed marked`
      : `New ${posed} it got wrong at first`
  return reads
    ? `Some new ${posed}, before and after, what changed marked`
    : `Some new ${posed}, before and after`
}

/** The same problems before the run and after it. */
export function Answers() {
  const state = usePresent(selectAll)
  const found = examplesOf(state, EXAMPLES)
  if (!found) return null
  const [before, after] = found.steps
  const posed = posedWords(selectTask(state))
  const reads = areRead(found)
  const hasTruth = !reads && found.examples.every(({ after }) => after.gts !== '')
  return (
    <table className={reads ? 'end-answers end-prose' : 'end-answers'} data-testid="end-answers">
      <caption>
        {titleOf(found.examples, { posed, reads, isJudged: selectIsJudged(state) })}
      </caption>
      <thead>
        <tr>
          <th scope="col">{posed === 'stories' ? 'story' : 'problem'}</th>
          <th scope="col">step {before}</th>
          <th scope="col">step {after}</th>
          {hasTruth ? <th scope="col">right answer</th> : null}
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
  const [isWhole, setWhole] = useState(false)
  const [then, now] = [shownText(before.output), shownText(after.output)]
  const marked = isProse(then) && isProse(now) ? changedWords(then, now) : undefined
  const told = shownText(after.input)
  const last = lastPassage(told)
  const runs = [marked?.before, marked?.after].map((own) => (isWhole ? own : own && lastRuns(own)))
  const isCut = last !== told || runs.some((own) => own?.[0]?.text === CUT)
  return (
    <tr>
      <th scope="row">
        <span className="end-told">{isWhole ? told : last}</span>
        {isCut || isWhole ? (
          <button
            type="button"
            className="plain end-more"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? 'only its end' : 'the whole story'}
          </button>
        ) : null}
      </th>
      <Answer answer={before} step={props.steps[0]} runs={runs[0]} />
      <Answer
        answer={after}
        step={props.steps[1]}
        runs={runs[1]}
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
  const isJudged = usePresent(selectIsJudged)
  return (
    <td data-step={step}>
      <span className="response">
        {answer.output === '' ? (
          <>(nothing)</>
        ) : (
          (runs?.map(({ text, isChanged }, i) =>
            // Runs have no other identity than their place.
            isChanged ? (
              <mark key={i}>{text}</mark>
            ) : (
              <span key={i} translate="no">
                {text}
              </span>
            ),
          ) ?? shownText(answer.output))
        )}
      </span>
      {/* A sign stays with its answer. */}
      {'\u00a0'}
      {isJudged ? (
        <ScoreSign score={answer.score} />
      ) : (
        <span className="soft">reward {formatNumber(answer.score)}</span>
      )}
      {isJudged && isStill ? (
        <span className="soft"> {answer.score > 0 ? 'not wholly right yet' : 'still wrong'}</span>
      ) : null}
      <span className="visually-hidden">score {answer.score}</span>
    </td>
  )
}
