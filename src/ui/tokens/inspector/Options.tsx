// Lets a person choose what the inspector's colours say, and which responses it shows in which
// order.

import { layerName } from '../../glossary/layer_names.ts'
import { READ } from '../../plot/reads.ts'
import { useLastLayer } from '../../shown/run.ts'
import { type LayerReadout, MODES, type Mode } from '../base/colours.ts'
import { drawnOf, type Found, ORDERS, openedTogether, opening } from '../base/inspect.ts'
import { reopened, seeking, selectedIn } from '../base/search.ts'
import { type TokensView, tokensStore, useTokens } from '../base/view.ts'

const selectView = (view: TokensView) => view
const set = tokensStore.setState
const READOUTS: Readonly<Record<LayerReadout, string>> = { raw: READ.raw, normed: READ.normed }

const MODE_LABELS = Object.fromEntries(
  Object.entries(MODES).map(([name, { label }]) => [name, label]),
) as Readonly<Record<Mode, string>>

interface OptionsProps {
  readonly found: Found | undefined
  readonly total: number
}

/** One of several names, each with its label. */
function Choice<Name extends string>(props: {
  readonly id: string
  readonly label: string
  readonly labels: Readonly<Record<Name, string>>
  readonly value: Name
  readonly onChoose: (name: Name) => void
}) {
  const { id, label, labels, value, onChoose } = props
  return (
    <label>
      {label}
      <select
        data-testid={id}
        value={value}
        onChange={({ target }) => onChoose(target.value as Name)}
      >
        {Object.entries<string>(labels).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
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
              {layerName(l, last)}
            </option>
          ))}
        </select>
      </label>
      <Choice
        id="colour-readout"
        label="Read"
        labels={READOUTS}
        value={readout}
        onChoose={(readout) => set({ readout })}
      />
    </>
  )
}

/** How many responses are left, and how many groups teach. */
export function Count({ found, total }: OptionsProps) {
  return (
    <output data-testid="inspector-count" className="soft">
      {found
        ? `${found.responses.length === total ? '' : `${found.responses.length} of `}${total} responses, ${
            found.isSingle
              ? 'one to each prompt'
              : `scores differ at ${found.informativeGroups} of ${found.groups} prompts`
          }`
        : ''}
    </output>
  )
}

/** Opens all groups, or as many as can be drawn, and closes them. */
function OpenAll({ found }: { readonly found: Found }) {
  const view = useTokens(selectView)
  const { open } = drawnOf(found, view)
  const keys = openedTogether(found)
  const isOpen = keys.length > 0 && keys.every((key) => open.some((one) => one.key === key))
  return (
    <button
      type="button"
      className="inspector-open-all"
      data-testid="open-all"
      disabled={keys.length === 0}
      onClick={() => {
        const cursor = selectedIn(found, view)
        set({ ...opening(view, isOpen ? [] : keys), pages: 1, cursor })
      }}
    >
      {isOpen
        ? 'Close all'
        : keys.length < found.bundles.length
          ? `Open the first ${keys.length}`
          : 'Open all'}
    </button>
  )
}

export function Options({ found }: Pick<OptionsProps, 'found'>) {
  const view = useTokens(selectView)
  const { mode, order, isInformativeOnly, query } = view
  return (
    <div className="inspector-options">
      <Choice
        id="colour-mode"
        label="Colour"
        labels={MODE_LABELS}
        value={mode}
        onChoose={(mode) => set({ mode })}
      />
      {mode === 'layer_entropy' ? <LayerChoice /> : null}
      <Choice
        id="inspector-order"
        label="Order"
        labels={ORDERS}
        value={order}
        onChoose={(order) => set({ order, ...reopened(view) })}
      />
      {found && !found.isSingle && found.groups > 1 ? <OpenAll found={found} /> : null}
      <label>
        Find
        <input
          type="search"
          data-testid="inspector-search"
          placeholder="in prompts and responses"
          value={query}
          onChange={({ target }) =>
            set(found ? seeking(found, view, target.value) : { query: target.value })
          }
        />
      </label>
      <label className="inspector-check">
        <input
          type="checkbox"
          data-testid="informative-only"
          checked={isInformativeOnly && found?.isSingle !== true}
          disabled={found?.isSingle === true}
          onChange={({ target }) => set({ isInformativeOnly: target.checked, ...reopened(view) })}
        />
        Only prompts with different scores
      </label>
    </div>
  )
}
