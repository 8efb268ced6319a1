// Draws a picture of the GPU memory that each use of a model takes, and whether it fits here.
import { CircleAlert, CircleCheck } from 'lucide-react'
import type { ModelUse } from '../../../host/protocol/opened_model.ts'
import { formatBytes } from '../../kit/format.ts'
import '../lens/lens.css'

const USES: Readonly<Record<ModelUse['what'], string>> = {
  look: 'look inside and write',
  lora: 'train an adapter (LoRA)',
  full: 'train all weights',
}

/** Where the settings get it, because it does not fit without. */
const CHECKPOINTED = 'With gradient checkpointing: the same numbers for a second forward pass.'

export function MemoryPlan({ uses }: { readonly uses: readonly ModelUse[] }) {
  const most = Math.max(...uses.map(({ bytes }) => bytes))
  return (
    <table className="model-table model-memory">
      <caption>
        GPU memory as planned; training with 64 rows of 128 tokens. The bars compare these uses with
        each other, not with what the GPU has.
      </caption>
      <tbody>
        {uses.map(({ what, bytes, why_not, enable_gradient_checkpointing }) => (
          <tr key={what} data-use={what}>
            <th scope="row">{USES[what]}</th>
            <td>{formatBytes(bytes)}</td>
            <td>
              <span className="lens-bar" aria-hidden="true">
                <span style={{ width: `${(100 * bytes) / most}%` }} />
              </span>
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
