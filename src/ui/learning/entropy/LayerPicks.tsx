// Lets a person choose which layers of a deep model have a line.
import { layerName } from '../../glossary/layer_names.ts'
import { MOST_LINES, togglePick } from './picked_layers.ts'

/** A button for every layer of a deep model. */
export function LayerPicks(props: { readonly last: number; readonly shown: readonly number[] }) {
  const { last, shown } = props
  return (
    <fieldset className="layer-picks" data-testid="layer-picks">
      <legend className="soft">Lines of layers, at most {MOST_LINES}; the map has all</legend>
      {Array.from({ length: last + 1 }, (_, layer) => (
        <button
          key={layer}
          type="button"
          className="plain"
          aria-pressed={shown.includes(layer)}
          aria-label={`Line of ${layerName(layer, last)}`}
          onClick={() => togglePick(layer, last)}
        >
          {layer}
        </button>
      ))}
    </fieldset>
  )
}
