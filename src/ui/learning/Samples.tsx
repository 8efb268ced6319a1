// Shows the policy's answers: newest step on top, grouped by prompt. Always text, never markup.

import { memo, useMemo, useRef, useState } from 'react'
import { hasOneAnswer } from '../../document/experiment/asked.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import { verdictOf } from '../../host/protocol/verdict.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatNumber, withMinus } from '../kit/format.ts'
import { ScoreSign } from '../kit/ScoreSign.tsx'
import { TurnText } from '../kit/TurnText.tsx'
import { Below } from '../part/Below.tsx'
import { proseClass } from '../part/prose.ts'
import { useWholeRows } from '../part/whole_rows.ts'
import { selectIsJudged } from '../shown/measure/judged.ts'
import { selectTask } from '../shown/measure/main_measure.ts'
import { REWARD } from '../shown/metrics.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { selectHasRun } from '../shown/run.ts'
import { isImported, shownStore, useAtStep, useShown } from '../shown/shown.ts'
import { groupByPrompt, rolloutOf } from './grouping.ts'
import { HeldOut, heldOutAt } from './HeldOut.tsx'
import { PartScores } from './scores/PartScores.tsx'

type Batch = LabState['samples'][number]
type Sample = Batch['samples'][number]

const SHOWN_STEPS = 3
/** Prompts shown of each step; a page of thousands of rows helps nobody. */
const SHOWN_PROMPTS = 12

/** How many prompts of how many newest steps the list has; '' where it has all of a step. */
export function listSays(shown: number, all: number, steps: number): string {
  if (shown >= all) return ''
  return steps > 1
    ? `Here are ${shown} of each step’s ${all} prompts, for the ${steps} newest steps. `
    : `Here are ${shown} of this step’s ${all} prompts. `
}

/** `listSays` of the batches, newest first. Records of old steps keep fewer responses than were
 * sampled. */
function partSays(state: LabState, batches: readonly Batch[]): string {
  const batch = batches.at(0)
  const rollout = batch && rolloutOf(state, batch.step)
  if (!rollout) return ''
  const drawn = groupByPrompt(batch.samples, rollout.n).length
  return listSays(Math.min(SHOWN_PROMPTS, drawn), rollout.train_batch_size, batches.length)
}

const selectSeries = (state: LabState) => state.series
/** Nobody reads faster. */
const REFRESH_MS = 1000

/** Rounding of none has no sign. */
export function advantageText(advantage: number): string {
  const rounded = Number(advantage.toFixed(2)) + 0
  return `${rounded > 0 ? '+' : ''}${withMinus(rounded.toFixed(2))}`
}

function Response({ sample, columns }: { sample: Sample; columns: number }) {
  const isJudged = useShown(selectIsJudged)
  return (
    <tr className={isJudged ? verdictOf(sample.score) : undefined}>
      <td>
        <span className={`response ${proseClass(sample.response)}`}>
          <TurnText told={sample} />
        </span>
        {sample.is_ended ? null : <span className="soft"> cut off</span>}
      </td>
      <td>
        {isJudged ? <ScoreSign score={sample.score} /> : null} {formatNumber(sample.score)}
        <PartScores told={sample} />
      </td>
      {columns > 3 ? (
        <td>{sample.rm_score === undefined ? '' : formatNumber(sample.rm_score)}</td>
      ) : null}
      <td>{advantageText(sample.advantage)}</td>
    </tr>
  )
}

interface GroupProps {
  readonly prompt: string
  readonly samples: readonly Sample[]
  readonly columns: number
  /** The step drew the prompt before. */
  readonly isAgain: boolean
}

function Group({ prompt, samples, columns, isAgain }: GroupProps) {
  const hasAnswer = hasOneAnswer(useShown(selectTask))
  return (
    <tbody>
      <tr className="prompt">
        <th scope="rowgroup" colSpan={columns}>
          <span className={`response ${proseClass(prompt)}`}>{shownText(prompt)}</span>
          {hasAnswer ? (
            <span className="soft"> answer {shownText(samples[0].ground_truth)}</span>
          ) : null}
          {isAgain ? <span className="soft"> drawn again</span> : null}
        </th>
      </tr>
      {samples.map((sample, i) => (
        // Responses have no other identity than their place.
        <Response key={i} sample={sample} columns={columns} />
      ))}
    </tbody>
  )
}

const StepSamples = memo(function StepSamples({ batch }: { batch: Batch }) {
  const size = useShown((state) => rolloutOf(state, batch.step)?.n)
  const groups = useMemo(() => groupByPrompt(batch.samples, size), [batch, size])
  const more = groups.length - SHOWN_PROMPTS
  const isRewarded = batch.samples.some(({ rm_score }) => rm_score !== undefined)
  const columns = isRewarded ? 4 : 3
  return (
    <table className="samples-table">
      <caption>Step {batch.step}</caption>
      <thead>
        <tr>
          <th scope="col">response</th>
          <th scope="col">score</th>
          {isRewarded ? <th scope="col">rewarded</th> : null}
          <th scope="col">advantage</th>
        </tr>
      </thead>
      {groups.slice(0, SHOWN_PROMPTS).map(([prompt, samples], i) => (
        <Group
          key={i}
          {...{ prompt, samples, columns }}
          isAgain={groups.findIndex(([other]) => other === prompt) < i}
        />
      ))}
      {more > 0 ? (
        <tfoot>
          <tr>
            <td colSpan={columns} className="soft">
              and {more} more {more === 1 ? 'prompt' : 'prompts'}
            </td>
          </tr>
        </tfoot>
      ) : null}
    </table>
  )
})

/** The newest steps, or the one that was kept last at or before the step that the page shows. */
function useBatches(atStep: number | undefined): readonly Batch[] {
  // Every run has columns of its own: another one shows at once.
  useShown(selectSeries)
  useSlowFrame(REFRESH_MS)
  const { samples, kept: all } = shownStore.getState()
  if (atStep === undefined) return samples.slice(-SHOWN_STEPS).reverse()
  const kept = all.samples.at(atStep)
  return kept ? [{ step: kept.step, samples: kept.item }] : []
}

/** Why there is nothing to see. */
function emptyWords(hasRun: boolean, atStep: number | undefined): string {
  if (isImported()) return 'The log has no samples.'
  if (atStep !== undefined) return `No samples were kept at step ${atStep} or before it.`
  // Records keep responses of some steps alone.
  if (shownStore.getState().series.has(REWARD)) return 'No samples were kept up to this step.'
  return hasRun
    ? 'No samples yet. The first step of reinforcement samples some; a warm start only imitates demonstrations.'
    : 'Responses that the policy samples while it trains by reinforcement will appear here, with their score and advantage.'
}

const KINDS = { training: 'Training', held_out: 'Held-out' } as const
type Kind = keyof typeof KINDS

/** Which responses are read: what was trained on, or what evaluations answered. */
function KindChoice({ kind, onChoose }: { kind: Kind; onChoose: (kind: Kind) => void }) {
  return (
    <fieldset className="range">
      <legend className="visually-hidden">Responses shown</legend>
      {Object.entries(KINDS).map(([value, name]) => (
        <label key={value}>
          <input
            type="radio"
            name="samples-kind"
            value={value}
            data-testid={`samples-${value}`}
            checked={kind === value}
            onChange={() => onChoose(value as Kind)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

/** Why there are no answers to held-out problems to see. */
const noAnswers = (): string =>
  isImported()
    ? 'The log has no answers to held-out problems up to this step.'
    : 'No answers to held-out problems were kept up to this step. Evaluations produce them: see Held-out prompts and Answers kept in the settings.'

const hasNoText = ({ samples, kept }: LabState): boolean =>
  samples.length === 0 && kept.samples.items.length === 0 && kept.generations.items.length === 0

export function Samples() {
  const [kind, setKind] = useState<Kind>('training')
  const atStep = useAtStep()
  const shown = useBatches(atStep)
  const hasRun = useShown(selectHasRun)
  const list = useRef<HTMLDivElement>(null)
  // A group is high: cut between its responses, the list fills its card.
  const part = useMemo(() => partSays(shownStore.getState(), shown), [shown[0]])
  const below = useWholeRows(list, 'tbody > tr:not(.prompt)', 'tbody')
  // Most logs have none, and none will come.
  if (isImported() && hasNoText(shownStore.getState())) return null
  const isHeldOut = kind === 'held_out'
  const evaluation = isHeldOut ? heldOutAt(atStep) : undefined
  const isEmpty = isHeldOut ? !evaluation : shown.length === 0
  const isOlder =
    atStep !== undefined &&
    (isHeldOut
      ? evaluation !== undefined && evaluation.step !== atStep
      : shown.some(({ step }) => step !== atStep))
  return (
    <section className="card samples" aria-labelledby="samples-title" data-testid="samples">
      <div className="samples-head">
        <h2 id="samples-title">Samples</h2>
        <KindChoice kind={kind} onChoose={setKind} />
      </div>
      {isOlder ? (
        <p className="soft samples-note">The newest kept at or before step {atStep}:</p>
      ) : null}
      {isEmpty ? (
        <p className="soft">{isHeldOut ? noAnswers() : emptyWords(hasRun, atStep)}</p>
      ) : (
        // A region that scrolls must be reachable by keyboard.
        <div
          ref={list}
          className="scroll"
          tabIndex={0}
          role="group"
          aria-label={atStep === undefined ? 'Newest samples' : 'Samples of the step shown'}
        >
          {evaluation ? (
            <HeldOut evaluation={evaluation} />
          ) : (
            // Each takes over the rows of the one that was there: a second may bring all anew.
            shown.map((batch, i) => <StepSamples key={i} batch={batch} />)
          )}
        </div>
      )}
      <Below {...below} says={isHeldOut ? '' : part} testId="samples-below" />
    </section>
  )
}
