// Draws a picture of the GPU memory that each use of a model takes, and whether it fits here.
import { CircleAlert, CircleCheck } from 'lucide-react'
import type { ModelUse } from '../../../host/protocol/opened_model.ts'
import { formatBytes } from '../../kit/format.ts'

const USES: Readonly<Record<ModelUse['what'], string>> = {
  look: 'look inside and write',
  lora: 'train an adapter (LoRA)',
  full: 'train all weights',
}

/** Where the settings get it, because it does not fit without. */
const CHECKPOINTED = 'With gradient checkpointing: the same numbers for a second forward pass.'

export function MemoryPlan({ uses }: { readonly uses: readonly ModelUse[] }) {
  const bytesOf = (what: ModelUse['what']) => uses.find((use) => use.what === what)?.bytes ?? 0
  // Of a small model the states of the batch are most of it.
  const savesNothing = bytesOf('full') > 0 && bytesOf('lora') >= bytesOf('full')
  return (
    <table className="model-table model-memory">
      <caption>
        GPU memory as planned for steps of 64 responses with 128 tokens each, prompts included. A
        run of the settings has a batch of its own; what it takes is said beside Train.
        {savesNothing
          ? ' An adapter saves nothing in a model as small as this one: what it keeps of every token is more than the optimizer state that it spares.'
          : ''}
      </caption>
      <tbody>
        {uses.map(({ what, bytes, why_not, enable_gradient_checkpointing }) => (
          <tr key={what} data-use={what}>
            <th scope="row">{USES[what]}</th>
            <td>{formatBytes(bytes)}</td>
            <td>
              <small className={why_not === undefined ? 'model-fits' : 'bad'}>
                {why_not === undefined ? (
                  <CircleCheck className="icon" aria-hidden="true" />
                ) : (
                  <CircleAlert className="icon" aria-hidden="true" />
                )}{' '}
                {why_not === undefined ? 'fits' : `does not fit: ${why_not}`}
              </small>
              {enable_gradient_checkpointing ? (
                <small className="soft">{CHECKPOINTED}</small>
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
