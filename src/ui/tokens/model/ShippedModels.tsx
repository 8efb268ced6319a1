// Draws models that come with the page: one press, and there is something to look into.
import { useShallow } from 'zustand/react/shallow'
import { modelHash } from '../../../host/content/models/model_files.ts'
import { SHIPPED, type ShippedModel, shippedModel } from '../../../host/content/models/shipped.ts'
import { openedModelStore } from '../../../page/opened/opened_model.ts'
import { shippedFiles } from '../../../page/opened/shipped_files.ts'
import type { LabState } from '../../../page/state/store.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { formatBytes } from '../../kit/format.ts'
import { KNOWN } from '../../open/models/known_models.ts'
import { writeWithRun } from '../../open/models/run_model.ts'
import { useLab } from '../../shown/run.ts'
import { AskedProblem } from './chat/AskedProblem.tsx'
import { typedStore } from './chat/typed.ts'
import { openModelFiles } from './model_files.ts'
import { useProblem } from './use_problem.ts'

function useOpening() {
  const [problem, setProblem] = useProblem('shipped')
  const open = async (model: ShippedModel) => {
    setProblem(undefined)
    // The model that the open one was made of is asked the same, to compare.
    const { firstTry } = openedModelStore.getState()
    const typed = firstTry?.of === model.name ? typedStore.getState().typed : undefined
    try {
      openModelFiles(model.name, await shippedFiles(model), typed)
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return { problem, open }
}

interface RowProps {
  readonly isBusy: boolean
  /** The hash of the model that is open. */
  readonly open: string
}

/** Their names and what each is for, while one is open; that one is marked. */
export function ShippedRow({ isBusy, open: shown }: RowProps) {
  const { problem, open } = useOpening()
  return (
    <div className="model-row" data-testid="models-shipped">
      <span className="soft">Models that come with the page:</span>
      {SHIPPED.map((model) => (
        <button
          key={model.name}
          type="button"
          data-testid={`open-shipped-${model.name}`}
          aria-pressed={modelHash(model.files) === shown}
          disabled={isBusy}
          onClick={() => void open(model)}
        >
          <b translate="no">{model.name}</b>
          <small>{KNOWN[model.name].says}</small>
        </button>
      ))}
      <AskedProblem by={['shipped']} own={problem} />
    </div>
  )
}

const selectTrained = ({ step, record, runExperiment }: LabState) =>
  step > 0 && runExperiment ? { record, source: runExperiment.model.source } : undefined

/** That a model has learned nothing here, and the way to the one that has. */
export function AsShipped({ hash }: { readonly hash: string }) {
  const trained = useLab(useShallow(selectTrained))
  if (!shippedModel(hash)) return null
  const isOfRun = trained?.source === hash
  return (
    <p className="soft model-as-shipped" data-testid="model-as-shipped">
      {isOfRun
        ? 'This is the model as it comes with the page, not as your run has trained it.'
        : 'This is the model as it comes with the page: nothing was trained here.'}{' '}
      {isOfRun ? (
        <button
          type="button"
          data-testid="open-trained"
          onClick={() => void writeWithRun(trained.record, undefined, typedStore.getState().typed)}
        >
          Open the trained one
        </button>
      ) : null}
    </p>
  )
}

export function ShippedModels({ isBusy }: { isBusy: boolean }) {
  const { problem, open } = useOpening()
  const lacksGpu = useLab(selectLacksGpu)
  return (
    <div className="model-way">
      <h3>Comes with the page</h3>
      <ul className="model-shipped" data-testid="models-shipped">
        {SHIPPED.map((model) => (
          <li key={model.name}>
            <h4 translate="no">{model.name}</h4>
            <p>
              {KNOWN[model.name].says}
              <span className="soft">, for example</span> <code>{KNOWN[model.name].text}</code>
            </p>
            <span className="soft">
              {formatBytes(model.files.reduce((sum, { bytes }) => sum + bytes, 0))}
            </span>
            <button
              type="button"
              aria-label={`Open “${model.name}”`}
              data-testid={`open-shipped-${model.name}`}
              disabled={isBusy || lacksGpu}
              onClick={() => void open(model)}
            >
              Open
            </button>
          </li>
        ))}
      </ul>
      <AskedProblem by={['shipped']} own={problem} />
    </div>
  )
}
