// Draws two responses side by side: which one is better? Below it, what the reward model or the
// policy has learned of the answers.

import { Undo2 } from 'lucide-react'
import { useEffect } from 'react'
import { asksPerson } from '../../document/experiment/fields/pairs_fields.ts'
import { isPairedDocument } from '../../document/experiment/fields/phases.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import { editField } from '../../page/client/edits.ts'
import { giveVerdict, keepVerdicts, undoVerdict } from '../../page/client/verdicts.ts'
import { nextExperiment, taughtExperiment } from '../../page/state/next_experiment.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { formatShare } from '../kit/format.ts'
import { typing } from '../kit/input/keys.ts'
import { proseClass } from '../part/prose.ts'
import { HELD_OUT_PREFERENCES, HELD_OUT_REWARDS } from '../shown/metrics.ts'
import { refusedWords } from '../shown/names/refused.ts'
import { selectIsBusy, selectIsEdited, shownPhases, useLab } from '../shown/run.ts'
import { showToast, uiStore } from '../shown/store.ts'
import { ScoredPairs } from './ScoredPairs.tsx'
import {
  type Choice,
  canUndo,
  choiceOf,
  fewHeldOut,
  heldOutText,
  progressShare,
  progressText,
} from './verdicts.ts'

const selectAsked = (state: LabState) => state.asked
const selectScored = (state: LabState) => state.scored_pairs
/** The shown run's first phase that pairs teach. */
const pairedOf = (state: LabState) => shownPhases(state).find((phase) => 'pairs' in phase)
/** Of that phase; metrics of a reward model and of a policy have names of their own. */
const countOf = (state: LabState, name: string): number | undefined =>
  state.metrics[`${pairedOf(state)?.kind}/${name}`]
const selectAccuracy = (state: LabState) =>
  state.metrics[pairedOf(state)?.kind === 'preference' ? HELD_OUT_REWARDS : HELD_OUT_PREFERENCES]
const selectPairs = (state: LabState) => countOf(state, 'held_out_pairs')
const selectPrompts = (state: LabState) => countOf(state, 'held_out_prompts')
/** Who puts pairs in order. */
const selectLearner = (state: LabState) =>
  pairedOf(state)?.kind === 'preference' ? 'policy' : 'reward model'
/** Why fewer pairs are held out than the phase asks for. */
const selectFew = (state: LabState): string | undefined => {
  const phase = pairedOf(state)
  if (!phase) return undefined
  return fewHeldOut(phase.pairs, {
    pairs: countOf(state, 'pairs'),
    held_out_pairs: countOf(state, 'held_out_pairs'),
  })
}

/** Whether a person is asked in a phase. */
const asksIn = (phase: ReturnType<typeof shownPhases>[number]): boolean =>
  'pairs' in phase && asksPerson(phase.pairs) && phase.pairs.verdicts.length === 0

/** The settings’ first phase whose verdicts are recorded, so that nobody is asked in it; -1 without
 * one. */
const selectRecorded = ({ experiment }: LabState): number =>
  experiment.phases.findIndex(
    (phase) => isPairedDocument(phase) && asksPerson(phase.pairs) && phase.pairs.verdicts !== null,
  )
/** What is held out are a person’s own pairs, and not the task’s. */
const selectIsOwn = (state: LabState): boolean =>
  shownPhases(state).some(
    (phase) => 'pairs' in phase && phase.pairs.source === 'human' && asksIn(phase),
  )
const selectVerdictsOf = (state: LabState): string => {
  const phase = state.experiment.phases[selectRecorded(state)]
  return phase && isPairedDocument(phase) ? (phase.pairs.verdicts ?? '') : ''
}
const selectHasBegun = ({ phase_step }: LabState): boolean => phase_step > 0
/** Something was said in the run, and it is not in the settings yet. */
const selectCanKeep = (state: LabState): boolean =>
  !selectIsBusy(state) &&
  !selectIsEdited(state) &&
  taughtExperiment(state) !== nextExperiment(state)

const selectIsPaired = (state: LabState): boolean => pairedOf(state) !== undefined
/** A person is asked in some phase. */
const selectAsks = (state: LabState) => shownPhases(state).some(asksIn)

/** A person is asked now. */
const selectIsAsking = (state: LabState) =>
  selectIsBusy(state) &&
  state.asked?.phase === state.phase &&
  asksIn(shownPhases(state)[state.phase])

function act(choice: Choice): void {
  if (choice === 'undo') undoVerdict()
  else giveVerdict(choice)
}

/** Keys A, B, arrows, X and Z while a pair is on screen. */
function useKeys(isAsking: boolean): void {
  useEffect(() => {
    if (!isAsking) return
    const onKey = (event: KeyboardEvent) => {
      if (!uiStore.getState().shortcuts_on || event.defaultPrevented || event.repeat) return
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return
      const choice = choiceOf(event.key)
      if (!choice) return
      act(choice)
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [isAsking])
}

function ResponseButton(props: { choice: 'a' | 'b'; text: string; hint: string }) {
  const { choice, text, hint } = props
  return (
    <button
      type="button"
      className="answer"
      data-testid={`prefer-${choice}`}
      aria-label={`Response ${hint} is better: ${text || 'nothing'}`}
      onClick={() => act(choice)}
    >
      <span className={`response ${proseClass(text)}`}>
        {text === '' ? <>(nothing)</> : shownText(text)}
      </span>
      <kbd aria-hidden="true">{hint}</kbd>
    </button>
  )
}

function Question({ asked }: { asked: NonNullable<LabState['asked']> }) {
  const pair = asked.pairs[0]
  const hasBegun = useLab(selectHasBegun)
  return (
    <div className="question">
      {pair ? (
        <>
          <p>
            Which response to “
            <span className={`response ${proseClass(pair.prompt)} asked-prompt`}>
              {shownText(pair.prompt)}
            </span>
            ” is better?
          </p>
          <div className="answers">
            <ResponseButton choice="a" text={pair.response_a} hint="A" />
            <ResponseButton choice="b" text={pair.response_b} hint="B" />
          </div>
        </>
      ) : null}
      <div className="question-foot">
        <button
          type="button"
          data-testid="prefer-skip"
          disabled={!pair}
          onClick={() => act('skip')}
        >
          Skip <kbd aria-hidden="true">X</kbd>
        </button>
        <button
          type="button"
          data-testid="prefer-undo"
          disabled={!canUndo(asked)}
          onClick={() => act('undo')}
        >
          <Undo2 className="icon" aria-hidden="true" /> Undo <kbd aria-hidden="true">Z</kbd>
        </button>
        <p data-testid="prefer-progress" role="status">
          {progressText(asked, hasBegun)}
        </p>
        {asked.min_pairs > 0 ? (
          <span className="phase-track" aria-hidden="true">
            <span className="phase-done" style={{ width: `${100 * progressShare(asked)}%` }} />
          </span>
        ) : null}
      </div>
    </div>
  )
}

/** Puts the verdicts into the settings. */
function Keep() {
  if (!useLab(selectCanKeep)) return null
  return (
    <button
      type="button"
      data-testid="keep-verdicts"
      onClick={() => {
        keepVerdicts()
        showToast(
          'The settings now hold your verdicts: the next run repeats them and does not ask.',
        )
      }}
    >
      Keep my verdicts for the next run
    </button>
  )
}

/** Says that the next run repeats verdicts, and how to be asked. */
function Recorded({ index, verdicts }: { index: number; verdicts: string }) {
  const said = verdicts.replace(/[^abs]/g, '').length
  return (
    <div className="recorded-verdicts" data-testid="recorded-verdicts">
      <p className="soft">
        The settings hold {said} recorded {said === 1 ? 'verdict' : 'verdicts'} for phase{' '}
        {index + 1}: the next run repeats them and does not ask.
      </p>
      <button
        type="button"
        data-testid="ask-again"
        onClick={() => {
          const refused = editField(`phases.${index}.pairs.verdicts`, null)
          if (refused !== undefined) showToast(refusedWords(refused))
        }}
      >
        Ask me instead
      </button>
    </div>
  )
}

export function Preferences() {
  const isPaired = useLab(selectIsPaired)
  const learner = useLab(selectLearner)
  const asks = useLab(selectAsks)
  const asked = useLab(selectAsked)
  const isAsking = useLab(selectIsAsking)
  const scored = useLab(selectScored)
  const accuracy = useLab(selectAccuracy)
  const heldOut = useLab(selectPairs)
  const prompts = useLab(selectPrompts)
  const few = useLab(selectFew)
  const isOwn = useLab(selectIsOwn)
  const isBusy = useLab(selectIsBusy)
  const recorded = useLab(selectRecorded)
  const verdicts = useLab(selectVerdictsOf)
  useKeys(isAsking)
  const isRecorded = recorded >= 0 && !isBusy
  if (!isPaired || !(asks || scored || few || isRecorded)) return null
  return (
    <section
      className={isAsking ? 'card preferences asking' : 'card preferences'}
      aria-labelledby="preferences-title"
      data-testid="preferences"
    >
      <div className="preferences-head">
        <h2 id="preferences-title">
          {asks || isRecorded
            ? 'Your preferences'
            : learner === 'policy'
              ? 'Preferences'
              : 'Reward model'}
        </h2>
        {accuracy === undefined ? null : (
          <p className="soft">
            {isOwn ? 'In your order:' : 'In the preferred order:'}{' '}
            <b data-testid="reward-model-accuracy">{formatShare(accuracy)}</b> of{' '}
            {heldOutText(heldOut ?? 0, prompts)}
          </p>
        )}
        {few === undefined ? null : (
          <p className="soft" data-testid="few-held-out">
            {few}
          </p>
        )}
        {asks ? <Keep /> : null}
      </div>
      {isAsking && asked ? <Question asked={asked} /> : null}
      {isRecorded ? <Recorded index={recorded} verdicts={verdicts} /> : null}
      {asks && !isAsking && !isRecorded && !scored ? (
        <p className="soft">
          <Words
            text={
              learner === 'policy'
                ? 'When the phase begins, the policy’s responses appear here two by two. You say which is better; the policy learns it at once, without a reward model.'
                : 'When the reward model’s phase begins, the policy’s responses appear here two by two. You say which is better; the reward model learns it, and reinforcement follows the reward model.'
            }
          />
        </p>
      ) : null}
      {scored ? <ScoredPairs {...scored} learner={learner} /> : null}
    </section>
  )
}
