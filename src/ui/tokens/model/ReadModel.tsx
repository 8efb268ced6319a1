// Draws one text through every layer of one model or of two: the lens, the mean entropy of each
// layer, what its modules change, and each token by the whole model.
import { useEffect, useRef, useState } from 'react'
import type {
  ModelPlace,
  ModelReading,
  OpenedModelFacts,
} from '../../../host/protocol/opened_model.ts'
import { SIGNS_SAY, tokenSign, tokenWords } from '../../../host/protocol/token_text.ts'
import { layerName } from '../../glossary/layer_names.ts'
import { formatNats, formatNumber, formatShare, NONE } from '../../kit/format.ts'
import { PartsOfText } from '../../touch/parts/PartsOfText.tsx'
import { Shades } from '../base/Legend.tsx'
import { CellDetail } from '../lens/CellDetail.tsx'
import { type CellPlace, LensGrid } from '../lens/LensGrid.tsx'
import { finalCells, type LensKind, layersOf, meanEntropies } from '../lens/lens.ts'
import '../lens/lens.css'

/** What is shown of one model: its own names for what tests look for. */
interface Shown extends ModelReading {
  readonly name: string
  /** ln V. */
  readonly max_entropy: number
  readonly suffix: string
}

interface ReadProps {
  /** What was read. */
  readonly text: string
  /** A model of the lab's own: it learned answers alone. */
  readonly isOwn: boolean
  readonly readings: readonly ModelReading[]
  readonly facts: Partial<Record<ModelPlace, OpenedModelFacts>>
}

export function ReadModels({ text, isOwn, readings, facts }: ReadProps) {
  const [kind, setKind] = useState<LensKind>('raw')
  const head = useRef<HTMLHeadingElement>(null)
  // A press on a token that was written is answered here, below the form.
  useEffect(() => {
    head.current?.scrollIntoView({ block: 'start' })
  }, [])
  const shown = readings.flatMap((reading): Shown[] => {
    const own = facts[reading.place]
    const suffix = reading.place === 'first' ? '' : '-second'
    return own
      ? [{ ...reading, name: own.name, max_entropy: Math.log(own.vocab_size), suffix }]
      : []
  })
  return (
    <>
      <Shades />
      <h3 className="model-read-head" ref={head}>
        Read with every layer
      </h3>
      <p className="model-read-text" data-testid="model-read-text">
        {text}
      </p>
      {shown.some(({ before }) => before > 0) ? (
        <p className="soft model-read-text" data-testid="model-read-end">
          {readEndWords(shown)}
        </p>
      ) : null}
      {isOwn ? (
        <p className="soft model-read-text" data-testid="model-read-own">
          This model learned what follows a prompt, never the words of a prompt. What it says after
          a prompt’s first words is therefore no sentence of the task: read from where the prompt
          ends.
        </p>
      ) : null}
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
      <div className={shown.length > 1 ? 'model-pair' : ''}>
        {shown.map((one) => (
          <ModelLens key={one.place} shown={one} kind={kind} isNamed={shown.length > 1} />
        ))}
      </div>
      <Entropies shown={shown} />
      {shown.some(({ changes }) => changes) ? <Changes shown={shown} /> : null}
      {shown.map(({ place, name, parts, suffix }) =>
        parts ? <PartsOfText key={place} name={name} parts={parts} suffix={suffix} /> : null,
      )}
      {shown.map((one) => (
        <Tokens key={one.place} shown={one} isNamed={shown.length > 1} />
      ))}
    </>
  )
}

/** Which tokens of a long text are shown. */
function readEndWords(shown: readonly Shown[]): string {
  const [{ lens, before }] = shown
  const count = lens.tokens.length
  return `Its last ${count} of ${before + count} tokens are shown. Every layer has read those before them too.`
}

function ModelLens(props: { shown: Shown; kind: LensKind; isNamed: boolean }) {
  const { shown, kind, isNamed } = props
  const { lens, max_entropy, name, suffix } = shown
  const last = { layer: layersOf(lens) - 1, position: lens.tokens.length - 1 }
  const [here, setHere] = useState<CellPlace>(last)
  const [hovered, setHovered] = useState<CellPlace>()
  return (
    <section className="lens" aria-label={`Layer lens of ${name}`}>
      {isNamed ? <h3>{name}</h3> : null}
      <LensGrid
        {...{ lens, kind, here, max_entropy }}
        against={undefined}
        caption={`The likeliest token and its probability in per cent; bright is certain. ${SIGNS_SAY}.`}
        testid={`model-grid${suffix}`}
        onPlace={setHere}
        onHover={setHovered}
      />
      <CellDetail
        {...{ lens, kind, ...(hovered ?? here) }}
        {...{ step: 0, before: undefined, beforeStep: undefined, title: 'It would say' }}
      />
    </section>
  )
}

/** What a mean is over: of an answer the tokens that the model wrote, and not those of its
 * prompt. */
const meanOver = ([first]: readonly Shown[]): string =>
  first?.written === undefined
    ? 'mean over all tokens of the text, those of a prompt too'
    : 'mean over the tokens that the model wrote'

/** The entropies of each layer, of two models beside each other. Models of different depths share
 * their lower rows. */
function Entropies({ shown }: { shown: readonly Shown[] }) {
  const columns = shown.map(({ lens, ...one }) => ({
    ...one,
    raw: meanEntropies(lens, 'raw', one.written),
    normed: meanEntropies(lens, 'normed', one.written),
  }))
  const most = Math.max(0, ...columns.map(({ raw }) => raw.length))
  const named = (name: string, what: string) => (columns.length > 1 ? `${name}, ${what}` : what)
  return (
    <table className="model-table" data-testid="model-entropies">
      <caption>{`Entropy of every layer’s policy, ${meanOver(shown)}, nats`}</caption>
      <thead>
        <tr>
          <th scope="col">layer</th>
          {columns.map(({ place, name, max_entropy }) => [
            <th key={`${place} raw`} scope="col">
              {named(name, 'raw')}
            </th>,
            <th key={`${place} normed`} scope="col">
              {named(name, 'normed')}
            </th>,
            <th key={`${place} bar`} scope="col">
              share of ln V, {formatNumber(max_entropy)}
            </th>,
          ])}
        </tr>
      </thead>
      <tbody>
        {Array.from({ length: most }, (_, layer) => (
          <tr key={layer} data-layer={layer}>
            <th scope="row">{layerName(layer, most - 1)}</th>
            {columns.map(({ place, raw, normed, max_entropy }) => [
              <td key={`${place} raw`} data-value={raw[layer]}>
                {formatNats(raw[layer])}
              </td>,
              <td key={`${place} normed`} data-value={normed[layer]}>
                {formatNats(normed[layer])}
              </td>,
              <td key={`${place} bar`}>
                <span className="lens-bar" aria-hidden="true">
                  <span style={{ width: `${(100 * (raw[layer] ?? 0)) / max_entropy}%` }} />
                </span>
              </td>,
            ])}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** ΔH of the modules of each block (BuPO, eqs. 11 and 12): below 0 it decides, above 0 it opens
 * up. */
function Changes({ shown }: { shown: readonly Shown[] }) {
  const blocks = Math.max(0, ...shown.map(({ changes }) => changes?.dH_attn.length ?? 0))
  const named = (name: string, what: string) => (shown.length > 1 ? `${name}, ${what}` : what)
  return (
    <table className="model-table" data-testid="model-dh">
      <caption>
        {`ΔH: entropy of what a module writes, less that of what it reads; ${meanOver(shown)}, nats`}
      </caption>
      <thead>
        <tr>
          <th scope="col">block</th>
          {shown.map(({ place, name }) => [
            <th key={`${place} a`} scope="col">
              {named(name, 'attention')}
            </th>,
            <th key={`${place} f`} scope="col">
              {named(name, 'feed-forward')}
            </th>,
          ])}
        </tr>
      </thead>
      <tbody>
        {Array.from({ length: blocks }, (_, block) => (
          <tr key={block} data-block={block + 1}>
            <th scope="row">{block + 1}</th>
            {shown.map(({ place, changes }) => [
              <td key={`${place} a`} data-value={changes?.dH_attn[block]}>
                {formatNats(changes?.dH_attn[block])}
              </td>,
              <td key={`${place} f`} data-value={changes?.dH_ffn[block]}>
                {formatNats(changes?.dH_ffn[block])}
              </td>,
            ])}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Tokens({ shown, isNamed }: { shown: Shown; isNamed: boolean }) {
  const { lens, name, suffix, written } = shown
  const cells = finalCells(lens)
  const counted = written === undefined ? cells : cells.slice(cells.length - written)
  const known = counted.filter((cell) => cell?.next !== undefined)
  const right = known.filter((cell) => cell?.is_right).length
  return (
    <table className="model-table" data-testid={`model-tokens${suffix}`}>
      <caption>
        Each token, by the whole model’s policy before it{isNamed ? `: ${name}` : ''}.{' '}
        {written === undefined
          ? `It was the likeliest ${right} of ${known.length} times.`
          : `One that the model wrote was the likeliest ${right} of ${known.length} times.`}
      </caption>
      <thead>
        <tr>
          <th scope="col">token</th>
          <th scope="col">its probability</th>
          <th scope="col">likeliest</th>
          <th scope="col">entropy</th>
        </tr>
      </thead>
      <tbody>{lens.tokens.map((token, i) => tokenRow(cells, token, i))}</tbody>
    </table>
  )
}

/** What is not 0 does not look so. */
const probWords = (prob: number): string =>
  prob > 0 && prob < 0.0005 ? '< 0.1 %' : formatShare(prob)

function tokenRow(cells: ReturnType<typeof finalCells>, token: string, i: number) {
  const cell = cells[i]
  const [best] = cell?.top ?? []
  return (
    // Tokens have no other identity than their place.
    <tr key={i}>
      <th scope="row" className="response" aria-label={tokenWords(token)}>
        {tokenSign(token)}
      </th>
      <td data-value={cell?.next?.prob}>{cell?.next ? probWords(cell.next.prob) : NONE}</td>
      <td>{best ? `${tokenSign(best.token)} ${formatShare(best.prob)}` : NONE}</td>
      <td>{cell ? formatNats(cell.entropy) : NONE}</td>
    </tr>
  )
}
