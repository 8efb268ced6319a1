// Shows at once how a model that comes with the page continues a story, before training.
import type { ShippedName } from '../../host/content/models/shipped.ts'
import { KNOWN } from '../open/models/known_models.ts'

export function ModelWrites({ name }: { readonly name: ShippedName }) {
  const { text, writes } = KNOWN[name]
  if (writes === undefined) return null
  return (
    <figure className="model-writes" data-testid="model-writes">
      <blockquote>
        <span className="soft" translate="no">
          {text}
        </span>
        <span translate="no">{writes}</span>
      </blockquote>
      <figcaption className="soft">
        How the model continues a story before training, always with the likeliest word. This is a
        recording; at temperature 0 it writes the same here.
      </figcaption>
    </figure>
  )
}
