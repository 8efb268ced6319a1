// Draws models that come with the page: one press, and there is something to look into.
import { useState } from 'react'
import {
  SHIPPED,
  type ShippedModel,
  type ShippedName,
} from '../../../host/content/models/shipped.ts'
import type { FirstTry } from '../../../page/opened/opened_model.ts'
import { shippedFiles } from '../../../page/opened/shipped_files.ts'
import { formatBytes } from '../../kit/format.ts'
import { selectLacksGpu } from '../../learning/without_gpu.ts'
import { useLab } from '../../shown/run.ts'
import { openModelFiles } from './model_files.ts'

interface Known extends FirstTry {
  readonly says: string
  readonly text: string
}
const KNOWN: Readonly<Record<ShippedName, Known>> = {
  arithmetic: {
    says: 'Reinforce it on sums, divisors or factors: it writes the right form, seldom the right answer; 6 layers',
    text: '12+7=',
  },
  small: {
    says: 'Let it teach a smaller model, or train it on: sums, sorting and brackets, half learned; 4 layers',
    text: '312>',
  },
  'small-deep': {
    says: 'See at which depth an answer appears: the same problems in 12 layers',
    text: '312>',
  },
  sorter: {
    says: 'Train it on, as the first run does: it begins to sort three digits; 3 layers',
    text: '312>',
  },
  story: {
    says: 'Write the beginning of a short story and let it go on; 4 layers',
    text: 'Once there was a small fox named Max. He had a red kite.',
    continues: true,
    // Measured layer by layer in docs/stories.md.
    direction: {
      toward: 'They laughed and danced. Anna was happy.',
      away: 'They cried and went home alone. Anna was sad.',
      layer: 4,
    },
  },
}

const BY_NAME: ReadonlyMap<string, Known> = new Map(Object.entries(KNOWN))
/** What is known of a model of the lab's own, by its name. */
export const knownModel = (name: string): Known | undefined => BY_NAME.get(name)

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
