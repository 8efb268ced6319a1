// One text through every layer of an opened model: the lens, the mean entropy of each layer, and each token by the whole model.
import { useState } from 'react'
import type { Lens } from '../../../lab/protocol/observation.ts'
import { SIGNS_SAY, tokenSign, tokenWords } from '../../../lab/protocol/token_text.ts'
import { formatNats, formatNumber, formatShare, NONE } from '../../base/format.ts'
import { Shades } from '../inspector/Legend.tsx'
import { CellDetail } from '../lens/CellDetail.tsx'
import { type CellPlace, LensGrid } from '../lens/LensGrid.tsx'
import { type LensKind, layersOf, lensLayerName } from '../lens/lens.ts'
import { finalCells, meanEntropies } from './layers.ts'
import '../lens/lens.css'

interface ReadProps {
  readonly lens: Lens
  /** ln V. */
  readonly max_entropy: number
}

export function ReadModel({ lens, max_entropy }: ReadProps) {
  const [kind, setKind] = useState<LensKind>('raw')
  const last = { layer: layersOf(lens) - 1, position: lens.tokens.length - 1 }
  const [here, setHere] = useState<CellPlace>(last)
  const [hovered, setHovered] = useState<CellPlace>()
  return (
    <>
      <Shades />
      <section className="lens" aria-label="Layer lens">
        <fieldset className="model-kind">
          <legend>Read the state</legend>
          {(['raw', 'normed'] as const).map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="model-kind"
                data-testid={`model-${name}`}
                checked={kind === name}
                onChange={() => setKind(name)}
              />
              {name}
            </label>
          ))}
        </fieldset>
        <LensGrid
          {...{ lens, kind, here, max_entropy }}
          against={undefined}
          caption={`The likeliest token and its probability in per cent; dark is certain. ${SIGNS_SAY}.`}
          testid="model-grid"
          onPlace={setHere}
          onHover={setHovered}
        />
        <CellDetail
          {...{ lens, kind, ...(hovered ?? here) }}
          {...{ step: 0, before: undefined, before_step: undefined, title: 'It would say' }}
        />
      </section>
      <Entropies {...{ lens, max_entropy }} />
      <Tokens lens={lens} />
    </>
  )
}

function Entropies({ lens, max_entropy }: ReadProps) {
  const [raw, normed] = [meanEntropies(lens, 'raw'), meanEntropies(lens, 'normed')]
  return (
    <table className="model-table" data-testid="model-entropies">
      <caption>Entropy of every layer’s policy, mean over the text, nats</caption>
      <thead>
        <tr>
          <th scope="col">layer</th>
          <th scope="col">raw</th>
          <th scope="col">normed</th>
          <th scope="col">of ln V = {formatNumber(max_entropy)}</th>
        </tr>
      </thead>
      <tbody>
        {raw.map((value, layer) => (
          <tr key={layer} data-layer={layer}>
            <th scope="row">{lensLayerName(layer, raw.length - 1)}</th>
            <td data-value={value}>{formatNats(value)}</td>
            <td data-value={normed[layer]}>{formatNats(normed[layer])}</td>
            <td>
              <span className="lens-bar" aria-hidden="true">
                <span style={{ width: `${(100 * value) / max_entropy}%` }} />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Tokens({ lens }: { lens: Lens }) {
  const cells = finalCells(lens)
  return (
    <table className="model-table" data-testid="model-tokens">
      <caption>Each token, by the whole model’s policy before it</caption>
      <thead>
        <tr>
          <th scope="col">token</th>
          <th scope="col">its probability</th>
          <th scope="col">likeliest</th>
          <th scope="col">entropy</th>
        </tr>
      </thead>
      <tbody>
        {lens.tokens.map((token, i) => {
          const cell = cells[i]
          const [best] = cell?.top ?? []
          return (
            // Tokens have no other identity than their place.
            <tr key={i}>
              <th scope="row" className="response" aria-label={tokenWords(token)}>
                {tokenSign(token)}
              </th>
              <td data-value={cell?.next?.prob}>
                {cell?.next ? formatShare(cell.next.prob) : NONE}
              </td>
              <td>{best ? `${tokenSign(best.token)} ${formatShare(best.prob)}` : NONE}</td>
              <td>{cell ? formatNats(cell.entropy) : NONE}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
