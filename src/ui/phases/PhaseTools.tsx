// Adds a phase to the list, moves one, takes one away.
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { newPhase } from '../../document/experiment/experiment.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { hasRewardModel } from '../../document/experiment/rules/phase_rules.ts'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { appendPhase, movePhase, removePhase } from '../../page/client/edits.ts'
import type { LabState } from '../../page/state/store.ts'
import { refusedWords } from '../shown/names/refused.ts'
import { selectFirstOpenPhase, useLab } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'

const selectLayers = (state: LabState) => state.experiment.model.num_hidden_layers
const selectPhases = (state: LabState) => state.experiment.phases

function tell(problem: string | undefined): void {
  if (problem !== undefined) showToast(refusedWords(problem))
}

/** Index of the phase that a settings group belongs to; undefined for other groups. */
export function phaseOfGroup(group: string): number | undefined {
  const match = /^Phase (\d+)$/.exec(group)
  return match ? Number(match[1]) - 1 : undefined
}

/** Index of the phase that is selected with this group: its own settings, inherited ones among
 * them, open beside its head. */
export function panelOfGroup(group: string): number | undefined {
  const match = /^Phase (\d+)(, own settings)?$/.exec(group)
  return match ? Number(match[1]) - 1 : undefined
}

/** Moves and removes one phase. */
export function PhaseTools({ index }: { index: number }) {
  const phases = useLab(selectPhases)
  // Phases that have begun stay where they are.
  const first = useLab(selectFirstOpenPhase)
  const name = `phase ${index + 1}`
  return (
    <div className="phase-tools">
      <button
        type="button"
        aria-label={`Move ${name} earlier`}
        disabled={index <= first}
        onClick={() => tell(movePhase(index, index - 1, 'settings'))}
      >
        <ArrowUp className="icon" aria-hidden="true" />
      </button>
      <button
        type="button"
        aria-label={`Move ${name} later`}
        disabled={index < first || index + 1 >= phases.length}
        onClick={() => tell(movePhase(index, index + 1, 'settings'))}
      >
        <ArrowDown className="icon" aria-hidden="true" />
      </button>
      <button
        type="button"
        aria-label={`Remove ${name}`}
        disabled={index < first || phases.length === 1}
        onClick={() => tell(removePhase(index, 'settings'))}
      >
        <Trash2 className="icon" aria-hidden="true" /> Remove
      </button>
    </div>
  )
}

/** A phase to append. Reinforcement keeps the settings of the last, but trains the whole model; a
 * reward model before it scores it. */
export function addedPhase(
  kind: PhaseDocument['kind'],
  phases: readonly PhaseDocument[],
): PhaseDocument {
  const phase = newPhase(kind)
  const last = phases.findLast((other) => other.kind === 'rl')
  if (phase.kind !== 'rl') return phase
  const { name, target_layer, target_readout } = phase
  const reward_model = { enable: hasRewardModel(phases, phases.length) }
  return { ...phase, ...last, name, target_layer, target_readout, reward_model }
}

/** Adds a phase at the end. */
export function AddPhase() {
  const layers = useLab(selectLayers)
  const phases = useLab(selectPhases)
  const isFull = phases.length >= MAX_PHASES
  const add = (kind: PhaseDocument['kind']) => {
    tell(appendPhase(addedPhase(kind, phases), 'settings'))
  }
  return (
    <div className="phase-tools add-phase">
      <button type="button" data-testid="add-sft" disabled={isFull} onClick={() => add('sft')}>
        <Plus className="icon" aria-hidden="true" /> Warm start
      </button>
      <button
        type="button"
        data-testid="add-reward-model"
        disabled={isFull}
        onClick={() => add('reward_model')}
      >
        <Plus className="icon" aria-hidden="true" /> Reward model
      </button>
      <button
        type="button"
        data-testid="add-preference"
        disabled={isFull}
        onClick={() => add('preference')}
      >
        <Plus className="icon" aria-hidden="true" /> Preferences
      </button>
      <button
        type="button"
        data-testid="add-distill"
        disabled={isFull || layers < 2}
        onClick={() => add('distill')}
      >
        <Plus className="icon" aria-hidden="true" /> Distillation
      </button>
      <button type="button" data-testid="add-rl" disabled={isFull} onClick={() => add('rl')}>
        <Plus className="icon" aria-hidden="true" /> Reinforcement
      </button>
    </div>
  )
}
