// Shows pairs that nothing was trained on: what the task says of both responses, and in which order
// the reward model puts them.

import { shownText } from '../../host/protocol/token_text.ts'
import { verdictOf } from '../../host/protocol/verdict.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatNumber } from '../kit/format.ts'
import { ScoreSign } from '../kit/ScoreSign.tsx'
import { proseClass } from '../part/prose.ts'

type Scored = NonNullable<LabState['scored_pairs']>
type Pair = Scored['pairs'][number]

/** A response with the task's verdict on it; none where a recording has kept none. */
function Judged({ text, taskScore }: { text: string; taskScore: number | undefined }) {
  const verdict = taskScore === undefined ? undefined : verdictOf(taskScore)
  return (
    <td className={verdict}>
      {taskScore === undefined ? null : (
        <>
          <ScoreSign score={taskScore} />
          <span className="visually-hidden">{`${verdict}: `}</span>{' '}
        </>
      )}
      <span className={`response ${proseClass(text)}`}>{shownText(text) || <>(nothing)</>}</span>
    </td>
  )
}

/** In which order what was learned puts a pair. */
function orderWords({ chosen_score, rejected_score }: Pair): string {
  if (chosen_score === rejected_score) return 'no order'
  return chosen_score > rejected_score ? 'same order' : 'other order'
}

/** ✓ and ✗ are the task’s; the learner’s order is beside them, because it may prefer what is wrong.
 * The scores of a policy are the rewards that it implies. */
export function ScoredPairs({
  pairs,
  step,
  learner,
}: Scored & { readonly learner: 'policy' | 'reward model' }) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <div className="scroll" tabIndex={0} role="group" aria-label="Held-out pairs with scores">
      <table className="samples-table">
        <caption>
          Held-out pairs, scored after step {step}. ✓ and ✗: right or wrong by the task.
        </caption>
        <thead>
          <tr>
            <th scope="col">prompt</th>
            <th scope="col">preferred</th>
            <th scope="col">its score</th>
            <th scope="col">the other</th>
            <th scope="col">its score</th>
            <th scope="col">{learner}</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair, i) => (
            // Pairs have no other identity than their place.
            <tr key={i}>
              <td>
                <span className={`response ${proseClass(pair.prompt)}`}>
                  {shownText(pair.prompt)}
                </span>
              </td>
              <Judged text={pair.chosen} taskScore={pair.chosen_task_score} />
              <td>{formatNumber(pair.chosen_score)}</td>
              <Judged text={pair.rejected} taskScore={pair.rejected_task_score} />
              <td>{formatNumber(pair.rejected_score)}</td>
              <td className={orderWords(pair) === 'same order' ? undefined : 'wrong'}>
                {orderWords(pair)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
