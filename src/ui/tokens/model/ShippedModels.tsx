// Draws models that come with the page: one press, and there is something to look into.
import { useState } from 'react'
import { SHIPPED, type ShippedModel } from '../../../host/content/models/shipped.ts'
import { shippedFiles } from '../../../page/opened/shipped_files.ts'
import { formatBytes } from '../../kit/format.ts'
import { selectLacksGpu } from '../../learning/without_gpu.ts'
import { KNOWN } from '../../open/models/known_models.ts'
import { useLab } from '../../shown/run.ts'
import { openModelFiles } from './model_files.ts'

export function ShippedModels({ isBusy }: { isBusy: boolean }) {
  const [problem, setProblem] = useState<string>()
  const lacksGpu = useLab(selectLacksGpu)
  const open = async (model: ShippedModel) => {
    setProblem(undefined)
    try {
      openModelFiles(model.name, await shippedFiles(model))
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <div className="model-way">
      <h3>Comes with the page</h3>
      <ul className="model-shipped" data-testid="models-shipped">
        {SHIPPED.map((model) => (
          <li key={model.name}>
            <h4>{model.name}</h4>
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
              title={lacksGpu ? 'This needs a GPU, and the browser gives the page none' : undefined}
              onClick={() => void open(model)}
            >
              Open
            </button>
          </li>
        ))}
      </ul>
      {problem === undefined ? null : (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
