// What the inspector's colours say, and which responses it shows in which order.

import { useLastLayer } from '../../base/run.ts'
import { lensLayerName } from '../lens/lens.ts'
import { type LayerReadout, MODES, type Mode } from './colours.ts'
import { type Found, ORDERS, type Order } from './inspect.ts'
import { type TokensView, tokensStore, useTokens } from './view.ts'

const selectView = (view: TokensView) => view
const set = tokensStore.setState
const READOUTS: Readonly<Record<LayerReadout, string>> = {
  raw: 'raw, as it is',
  normed: 'through the final norm',
}

interface OptionsProps {
  readonly found: Found | undefined
  readonly total: number
}

/** Whose entropy the colours are of. */
function LayerChoice() {
  const { layer, readout } = useTokens(selectView)
  const last = useLastLayer()
  const layers = Array.from({ length: last + 1 }, (_, l) => l)
  return (
    <>
      <label>
        Layer
        <select
          data-testid="colour-layer"
          value={Math.min(layer, last)}
          onChange={({ target }) => set({ layer: Number(target.value) })}
        >
          {layers.map((l) => (
            <option key={l} value={l}>
              {lensLayerName(l, last)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Read the state
        <select
          data-testid="colour-readout"
          value={readout}
          onChange={({ target }) => set({ readout: target.value as LayerReadout })}
        >
          {Object.entries(READOUTS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

function Count({ found, total }: OptionsProps) {
  return (
    <output data-testid="inspector-count" className="soft">
      {found
        ? `${found.responses.length} of ${total} responses, ${
            found.is_single
              ? 'one to each prompt'
              : `${found.informative_groups} of ${found.groups} groups have different scores`
          }`
        : ''}
    </output>
  )
}

export function Options({ found, total }: OptionsProps) {
  const { mode, order, is_informative_only, query } = useTokens(selectView)
  return (
    <div className="inspector-options">
      <label>
        Colour
        <select
          data-testid="colour-mode"
          value={mode}
          onChange={({ target }) => set({ mode: target.value as Mode })}
        >
          {Object.entries(MODES).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {mode === 'layer_entropy' ? <LayerChoice /> : null}
      <label>
        Order
        <select
          data-testid="inspector-order"
          value={order}
          onChange={({ target }) =>
            set({ order: target.value as Order, open: undefined, pages: 1 })
          }
        >
          {Object.entries(ORDERS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Find
        <input
          type="search"
          data-testid="inspector-search"
          placeholder="in prompts and responses"
          value={query}
          onChange={({ target }) => set({ query: target.value, open: undefined, pages: 1 })}
        />
      </label>
      <label className="inspector-check">
        <input
          type="checkbox"
          data-testid="informative-only"
          checked={is_informative_only && found?.is_single !== true}
          disabled={found?.is_single === true}
          onChange={({ target }) =>
            set({ is_informative_only: target.checked, open: undefined, pages: 1 })
          }
        />
        Only groups with different scores
      </label>
      <Count found={found} total={total} />
    </div>
  )
}
