// Composes the reward: parts with weights and settings, and what they say of a few answers.
import './rewards.css'
import { X } from 'lucide-react'
import { useState } from 'react'
import { editField } from '../../../page/client/edits.ts'
import type { LabState } from '../../../page/state/store.ts'
import { kindsOf, type PartChoice, programParts } from '../../../page/trials/reward_trial.ts'
import { Words } from '../../glossary/Words.tsx'
import { closeDialog } from '../../open/dialogs.ts'
import { useLab } from '../../shown/run.ts'
import { FunctionMenu } from './FunctionMenu.tsx'
import { PartSettings } from './PartSettings.tsx'
import { NewProgram, ProgramEditor } from './Program.tsx'
import { REWARD_STARTS } from './reward_starts.ts'
import { Trial } from './Trial.tsx'

const selectExperiment = ({ experiment }: LabState) => experiment
const PROGRAM = 'program'
interface PartProps {
  readonly part: PartChoice
  readonly place: number
  onChange(part: PartChoice): string | undefined
  onRemove(): void
}

/** One part: its name, weight and settings. */
function Part({ part, place, onChange, onRemove }: PartProps) {
  const kinds = kindsOf(useLab(selectExperiment))
  const kind = kinds.find(({ id }) => id === part.id)
  const label = kind?.label ?? (part.id === PROGRAM ? `Program ${part.name}` : part.id)
  return (
    <li className="reward-part" data-testid={`reward-part-${place}`}>
      <div className="reward-part-head">
        <h3>{label}</h3>
        <label>
          weight{' '}
          <input
            type="number"
            step="any"
            defaultValue={part.weight}
            data-testid={`reward-weight-${place}`}
            onChange={({ target }) => {
              const weight = target.valueAsNumber
              if (Number.isFinite(weight)) onChange({ ...part, weight })
            }}
          />
        </label>
        <button type="button" className="plain" aria-label={`Remove ${label}`} onClick={onRemove}>
          <X className="icon" aria-hidden="true" />
        </button>
      </div>
      {kind ? (
        <p className="soft help">
          <Words text={kind.help} />
        </p>
      ) : null}
      {kind ? <PartSettings {...{ kind, part, place, onChange }} /> : null}
      {part.id === PROGRAM ? <FunctionMenu {...{ part, place, onChange }} /> : null}
      {part.id === PROGRAM ? (
        <ProgramEditor
          {...{ code: `${part.code}`, name: `${part.name}` }}
          onUse={async (text, file) => {
            const [{ code, name }] = await programParts(text, file)
            onChange({ ...part, code, name })
          }}
        />
      ) : null}
    </li>
  )
}

/** What can be added. */
function AddPart({ onAdd }: { onAdd: (...parts: readonly PartChoice[]) => void }) {
  const kinds = kindsOf(useLab(selectExperiment))
  const [isWriting, setIsWriting] = useState(false)
  if (isWriting)
    return (
      <NewProgram
        {...{ stem: 'reward', starts: REWARD_STARTS }}
        onUse={async (text, name) => {
          const added = await programParts(text, name)
          setIsWriting(false)
          onAdd(...added)
        }}
        onCancel={() => setIsWriting(false)}
      />
    )
  return (
    <div className="reward-add">
      <label>
        Add a part{' '}
        <select
          value=""
          data-testid="reward-add"
          onChange={({ target }) => {
            if (target.value === PROGRAM) setIsWriting(true)
            else onAdd({ id: target.value, weight: 1 })
          }}
        >
          <option value="">choose …</option>
          {kinds.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
          <option value={PROGRAM}>A program (JavaScript or Python)</option>
        </select>
      </label>
    </div>
  )
}

export function RewardForm() {
  const experiment = useLab(selectExperiment)
  const [problem, setProblem] = useState<string>()
  const { parts } = experiment.reward
  const set = (next: readonly PartChoice[]) => {
    const refused = editField('reward.parts', next)
    setProblem(refused)
    return refused
  }
  return (
    <div className="reward-form">
      <div className="reward-head">
        <h2>Reward</h2>
        <button type="button" data-testid="reward-close" onClick={() => closeDialog('reward')}>
          Done
        </button>
      </div>
      <p className="soft">
        <Words
          text={
            parts.length === 0
              ? 'A response is worth what the task says. Add parts to decide it yourself.'
              : 'A response is worth the sum of weight × score of its parts. Cut-off responses are scored too.'
          }
        />
      </p>
      <ol className="reward-parts">
        {parts.map((part, place) => (
          <Part
            // The same kind may be there twice; places change only when one is removed.
            key={`${place} ${part.id} ${part.code ?? ''} ${parts.length}`}
            {...{ part, place }}
            onChange={(changed) => set(parts.with(place, changed))}
            onRemove={() => set(parts.toSpliced(place, 1))}
          />
        ))}
      </ol>
      <AddPart onAdd={(...added) => set([...parts, ...added])} />
      {problem === undefined ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Trial experiment={experiment} />
    </div>
  )
}
