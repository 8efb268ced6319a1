// Shows the policy's answers to held-out problems, at the newest evaluation or the one before the
// shown step.

import { memo, useMemo } from 'react'
import { hasOneAnswer } from '../../document/experiment/asked.ts'
import type { Generation } from '../../host/protocol/results.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import { verdictOf } from '../../host/protocol/verdict.ts'
import type { KeptItem } from '../../record/run/kept.ts'
import { formatNumber } from '../kit/format.ts'
import { ScoreSign } from '../kit/ScoreSign.tsx'
import { proseClass } from '../part/prose.ts'
import { selectIsJudged } from '../shown/measure/judged.ts'
import { posedWords, selectTask } from '../shown/measure/main_measure.ts'
import { shownStore, useShown } from '../shown/shown.ts'
import { groupByPrompt } from './grouping.ts'

type Evaluation = KeptItem<readonly Generation[]>

/** The evaluation that a step shows; undefined where none is kept. */
export const heldOutAt = (atStep: number | undefined): Evaluation | undefined =>
  shownStore.getState().kept.generations.at(atStep)

function Answer({ answer }: { answer: Generation }) {
  const { output, score, do_sample, is_ended } = answer
  const isJudged = useShown(selectIsJudged)
  return (
    <tr className={isJudged ? verdictOf(score) : undefined}>
      <td>
        <span className={`response ${proseClass(output)}`}>
          {output === '' ? <>(nothing)</> : shownText(output)}
        </span>
        {is_ended === false ? <span className="soft"> cut off</span> : null}
      </td>
      <td>
        {isJudged ? <ScoreSign score={score} /> : null} {formatNumber(score)}
      </td>
      <td>{do_sample === undefined ? '–' : do_sample ? 'sampled' : 'greedy'}</td>
    </tr>
  )
}

export const HeldOut = memo(function HeldOut({ evaluation }: { evaluation: Evaluation }) {
  const { step, item } = evaluation
  const task = useShown(selectTask)
  const groups = useMemo(
    () => groupByPrompt(item.map((answer) => ({ prompt: answer.input, answer }))),
    [item],
  )
  return (
    <table className="samples-table" data-testid="held-out">
      <caption>
        Step {step}, {posedWords(task)} that are never trained on
      </caption>
      <thead>
        <tr>
          <th scope="col">response</th>
          <th scope="col">score</th>
          <th scope="col">decoding</th>
        </tr>
      </thead>
      {groups.map(([prompt, answers]) => (
        <tbody key={prompt}>
          <tr className="prompt">
            <th scope="rowgroup" colSpan={3}>
              <span className={`response ${proseClass(prompt)}`}>{shownText(prompt)}</span>
              {hasOneAnswer(task) ? (
                <span className="soft"> answer {shownText(answers[0].answer.gts)}</span>
              ) : null}
            </th>
          </tr>
          {answers.map(({ answer }, i) => (
            // Answers have no other identity than their place.
            <Answer key={i} answer={answer} />
          ))}
        </tbody>
      ))}
    </table>
  )
})
