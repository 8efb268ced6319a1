// Draws all presets as cards: what a run of each came to, how long it takes here, and what it is
// about. A press on a card opens it.
import { useMemo, useState } from 'react'
import { rewardIsShare } from '../../document/experiment/asked.ts'
import { comparedLink } from '../../document/links/compared.ts'
import { figuresOf } from '../../document/presets/drawn.ts'
import { PRESETS, type Preset } from '../../document/presets/presets.ts'
import { SUMMARIES } from '../../document/presets/summaries.ts'
import {
  ANY,
  choicesOf,
  hasTags,
  smallFirst,
  type Tags,
  tagsOf,
  type Wanted,
} from '../../document/presets/tags.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import type { LabState } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { isFound } from '../kit/fuzzy.ts'
import { t } from '../kit/translator.ts'
import { useEstimate } from '../learning/more/estimate.ts'
import { openPreset } from '../open/actions.ts'
import { closeDialog } from '../open/dialogs.ts'
import { Modal } from '../part/Modal.tsx'
import { useLab } from '../shown/run.ts'
import { RunPicture } from './RunPicture.tsx'
import './gallery.css'

const selectPreset = ({ preset_id }: LabState) => preset_id

const hasRewardModel = ({ experiment }: Preset): boolean =>
  experiment.phases.some((phase) => phase.kind === 'rl' && phase.reward_model.enable)

/** How long a run takes on this adapter, and where that is known from. */
function TimeHere({ experiment }: Pick<Preset, 'experiment'>) {
  const estimate = useEstimate(experiment)
  const lacksGpu = useLab(selectLacksGpu)
  const model = unopenedModel(experiment)
  if (model !== undefined) return <>Open {model} first</>
  if (lacksGpu) return null
  if (!estimate) return <>Time here not known yet</>
  return estimate.isMeasured ? (
    <>Takes {estimate.words} here, as measured before</>
  ) : (
    <>Takes {estimate.words} here, an estimate</>
  )
}

function Card({ preset, tags }: { readonly preset: Preset; readonly tags: Tags }) {
  const { id, name, experiment } = preset
  const isChosen = useLab(selectPreset) === id
  const figures = figuresOf(id)
  const compared = comparedLink(id)
  const open = () => {
    closeDialog('presets')
    openPreset(id)
  }
  return (
    <li className="gallery-card" data-testid={`preset-card-${id}`}>
      <h3>
        <button type="button" aria-current={isChosen ? 'true' : undefined} onClick={open}>
          {name}
        </button>
      </h3>
      {figures ? (
        <RunPicture
          figures={figures}
          isShare={!hasRewardModel(preset) && rewardIsShare(experiment.reward)}
          isModels={hasRewardModel(preset)}
        />
      ) : (
        <p className="gallery-none soft">No run of it is recorded, so there is no picture.</p>
      )}
      <p>{SUMMARIES[id]}</p>
      <p className="gallery-time">
        <TimeHere experiment={experiment} />
      </p>
      {compared === undefined ? null : (
        <p>
          <a href={compared} aria-label={`Open beside others in a study: ${name}`}>
            Open beside others in a study
          </a>
        </p>
      )}
      <ul className="gallery-tags" aria-label="Tags">
        {[tags.task, ...tags.methods, t(tags.size).split(/[:：]/)[0]].map((tag) => (
          <li key={tag} className="badge">
            {tag}
          </li>
        ))}
      </ul>
    </li>
  )
}

const KINDS = [
  ['task', 'Task'],
  ['method', 'Method'],
  ['size', 'Size'],
] as const

function Filters(props: {
  readonly query: string
  readonly choices: ReturnType<typeof choicesOf>
  readonly wanted: Wanted
  onQuery(query: string): void
  onChange(wanted: Wanted): void
}) {
  const { query, choices, wanted, onQuery, onChange } = props
  return (
    <div className="gallery-filters">
      <label>
        <span>Search</span>
        <input
          type="search"
          data-testid="gallery-search"
          placeholder="such as sort, or teacher"
          value={query}
          onChange={({ target }) => onQuery(target.value)}
        />
      </label>
      {KINDS.map(([kind, label]) => (
        <label key={kind}>
          <span>{label}</span>
          <select
            data-testid={`gallery-${kind}`}
            value={wanted[kind]}
            onChange={({ target }) => onChange({ ...wanted, [kind]: target.value })}
          >
            <option value="">any</option>
            {choices[kind].map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        </label>
      ))}
    </div>
  )
}

/** What a card says. */
const textsOf = ({ id, name }: Preset, { task, methods, size }: Tags): readonly string[] => [
  name,
  SUMMARIES[id],
  task,
  ...methods,
  size,
]

function Cards() {
  const [wanted, setWanted] = useState(ANY)
  const [query, setQuery] = useState('')
  const all = useMemo(
    () => smallFirst(PRESETS.map((preset) => ({ preset, tags: tagsOf(preset.experiment) }))),
    [],
  )
  const choices = useMemo(() => choicesOf(all.map(({ tags }) => tags)), [all])
  const found = all.filter(
    ({ preset, tags }) => hasTags(tags, wanted) && isFound(query, textsOf(preset, tags)),
  )
  return (
    <>
      <Filters
        query={query}
        choices={choices}
        wanted={wanted}
        onQuery={setQuery}
        onChange={setWanted}
      />
      <p className="soft" role="status" data-testid="gallery-count">
        {found.length === all.length ? '' : `${found.length} of `}
        {all.length} presets.
        {found.length === 0 ? ' No preset has all of this.' : ''}
      </p>
      <ul className="gallery-cards">
        {found.map(({ preset, tags }) => (
          <Card key={preset.id} preset={preset} tags={tags} />
        ))}
      </ul>
    </>
  )
}

export function PresetGallery() {
  return (
    <Modal name="presets" label="Presets">
      <div className="dialog-head">
        <h2>Presets</h2>
        <button type="button" onClick={() => closeDialog('presets')}>
          Close
        </button>
      </div>
      <p className="gallery-key soft">
        Each picture is drawn from recorded runs. On its left is the reward by step of
        reinforcement, a line for each seed; on its right the entropy of every layer’s policy, the
        final one on top: <span className="gallery-dot" aria-hidden="true" /> hollow at first,{' '}
        <span className="gallery-dot full" aria-hidden="true" /> filled at the end.
      </p>
      <Cards />
    </Modal>
  )
}
