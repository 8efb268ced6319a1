// Draws another model on a cluster: its name, its GPUs, and what is proposed for them, each with
// its reason.
import { type ReactNode, useId } from 'react'
import { KNOWN_MODELS } from '../../../jobs/scale/known_models.ts'
import { type Cluster, FIRST_CLUSTER, type Proposal } from '../../../jobs/scale/scale.ts'
import type { Outcome, Plan } from './plan.ts'

interface Props {
  readonly plan: Plan
  readonly outcome: Outcome
  readonly onPlan: (change: Partial<Plan>) => void
}

export function ScaleFields({ plan, outcome, onPlan }: Props) {
  const { cluster } = plan
  return (
    <fieldset className="export-scale">
      <legend>Model</legend>
      <label className="export-check">
        <input
          type="checkbox"
          data-testid="export-scale"
          checked={cluster !== undefined}
          onChange={({ target }) =>
            onPlan({ cluster: target.checked ? FIRST_CLUSTER : undefined, own: {} })
          }
        />
        <span>Scale up: train another model with these settings</span>
      </label>
      {cluster ? <ClusterFields cluster={cluster} onPlan={onPlan} /> : null}
      {cluster && 'refused' in outcome ? (
        <p className="export-refused" role="alert" data-testid="export-scale-refused">
          {outcome.refused}
        </p>
      ) : null}
      {cluster && outcome.proposed.length > 0 ? (
        <Proposals proposed={outcome.proposed} plan={plan} onPlan={onPlan} />
      ) : null}
    </fieldset>
  )
}

function ClusterFields({ cluster, onPlan }: { cluster: Cluster; onPlan: Props['onPlan'] }) {
  const list = useId()
  // What was changed was meant for another size.
  const change = (part: Partial<Cluster>) => onPlan({ cluster: { ...cluster, ...part }, own: {} })
  const count = (key: 'gpus' | 'nodes', label: ReactNode) => (
    <label>
      {label}
      <input
        type="number"
        min={1}
        data-testid={`export-${key}`}
        value={cluster[key] || ''}
        onChange={({ target }) => change({ [key]: Math.floor(target.valueAsNumber) || 0 })}
      />
    </label>
  )
  return (
    <div className="export-cluster">
      <label>
        <span>Name on Hugging Face, or a folder</span>
        <input
          type="text"
          list={list}
          data-testid="export-model"
          spellCheck={false}
          autoComplete="off"
          value={cluster.model}
          onChange={({ target }) => change({ model: target.value })}
        />
      </label>
      <datalist id={list}>
        {KNOWN_MODELS.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {count('gpus', <span>GPUs per node</span>)}
      {count('nodes', <span>Nodes</span>)}
    </div>
  )
}

function Proposals(props: {
  readonly proposed: readonly Proposal[]
  readonly plan: Plan
  readonly onPlan: Props['onPlan']
}) {
  const { proposed, plan, onPlan } = props
  return (
    <ul className="export-proposals" aria-label="Proposed for this size">
      {proposed.map((proposal) => (
        <Proposed key={proposal.key} {...{ proposal, plan, onPlan }} />
      ))}
    </ul>
  )
}

function Proposed(props: {
  readonly proposal: Proposal
  readonly plan: Plan
  readonly onPlan: Props['onPlan']
}) {
  const { proposal, plan, onPlan } = props
  const { key, label, why } = proposal
  const id = useId()
  const value = plan.own[key] ?? proposal.value
  const set = (own: number) => onPlan({ own: { ...plan.own, [key]: own } })
  const common = { id, 'data-testid': `export-${key}`, 'aria-describedby': `${id}-why` }
  return (
    <li>
      <label htmlFor={id}>{label}</label>
      {key === 'offload' ? (
        <input
          {...common}
          type="checkbox"
          checked={value > 0}
          onChange={({ target }) => set(target.checked ? 1 : 0)}
        />
      ) : (
        <input
          {...common}
          type="number"
          step="any"
          min={0}
          value={Number.isNaN(value) ? '' : value}
          onChange={({ target }) => set(target.valueAsNumber)}
        />
      )}
      <small id={`${id}-why`} className="soft">
        {why}
      </small>
    </li>
  )
}
