// Draws responses to one prompt, their tokens as coloured boxes.
import { Fragment, memo, type ReactNode } from 'react'
import { shownText, tokenWords } from '../../../host/protocol/token_text.ts'
import { formatNumber, formatSigned } from '../../kit/format.ts'
import { Marked } from '../../kit/Marked.tsx'
import { mean } from '../../kit/mean.ts'
import { ScoreSign } from '../../kit/ScoreSign.tsx'
import { TOOL_WROTE, TurnText } from '../../kit/TurnText.tsx'
import { proseClass } from '../../part/prose.ts'
import {
  type LayerEntropy,
  MODES,
  type Mode,
  modeValue,
  type Range,
  shadeClass,
} from '../base/colours.ts'
import { cellText } from '../base/columns.ts'
import { type Bundle, type Inspected, numberIn } from '../base/inspect.ts'
import { foundTokens, matchesIn } from '../base/search.ts'
import { useTokenLook } from '../base/Token.tsx'

export interface Colours {
  readonly mode: Mode
  readonly range: Range | undefined
  readonly layerEntropy: LayerEntropy | undefined
}

/** What the badge of a response without an end means. */
export const CUT_OFF = 'the longest response was reached before an end token'

/** A response without a trace is one piece of text. */
function Untraced(props: { told: Inspected; here: number | undefined; query: string }) {
  const { told, here, query } = props
  const marks = told.turns ? [] : matchesIn(shownText(told.response), query)
  return (
    <span
      role="option"
      aria-selected={here !== undefined}
      tabIndex={here === undefined ? -1 : 0}
      data-t={0}
      className={`tok ${proseClass(told.response)}`}
    >
      {marks.length > 0 ? (
        <Marked text={shownText(told.response)} marks={marks} />
      ) : (
        <TurnText told={told} />
      )}
    </span>
  )
}

/** `here`: the token of the cursor, where that is in this response. */
const Tokens = memo(function Tokens(props: {
  told: Inspected
  colours: Colours
  here: number | undefined
  query: string
}) {
  const { told, colours, here, query } = props
  const { traced } = told
  const look = useTokenLook()
  if (!traced) return <Untraced told={told} here={here} query={query} />
  const { mode, range, layerEntropy } = colours
  const found = foundTokens(traced.tokens, query)
  const number = (t: number, value: number | undefined) => {
    if (value === undefined) return 'no number'
    return mode === 'layer_entropy' || mode === 'kl_ref'
      ? formatNumber(value)
      : cellText(traced, mode, t, told.noise)
  }
  return traced.tokens.map((token, t) => {
    const value = modeValue(mode, traced, t, layerEntropy)
    const isMarked = mode === 'clipped' || mode === 'chosen'
    const { sign, className, title } = look(token)
    const clipped = isMarked && value !== undefined && value > 0 ? 'marked' : ''
    const isObserved = traced.observed?.includes(t) ?? false
    const byTool = isObserved ? `, ${TOOL_WROTE}` : ''
    return (
      <span
        // Tokens have no other identity than their place.
        key={t}
        role="option"
        aria-selected={here === t}
        aria-label={`${tokenWords(token)}, ${MODES[mode].label} ${number(t, value)}${byTool}`}
        tabIndex={here === t ? 0 : -1}
        data-t={t}
        title={`${title}${byTool}`}
        className={`tok ${shadeClass(mode, value, range)} ${clipped} ${className} ${isObserved ? 'observed' : ''} ${found.has(t) ? 'found' : ''}`}
      >
        {sign}
      </span>
    )
  })
})

/** One response with what it was given. */
function Response(props: {
  told: Inspected
  /** Which of its group it is: '2 of 4'. */
  number: string
  colours: Colours
  here: number | undefined
  withPrompt: boolean
  query: string
}) {
  const { told, number, colours, here, withPrompt, query } = props
  const { score, isTaskScore, advantage, length, is_ended, prompt, place } = told
  return (
    <li className={`told ${here === undefined ? '' : 'here'}`} data-place={place}>
      {withPrompt ? (
        <span className={`response ${proseClass(prompt)} soft`}>
          <FoundIn text={shownText(prompt)} query={query} />
        </span>
      ) : null}
      <div
        role="listbox"
        aria-orientation="horizontal"
        aria-label={`Response ${number} to ${prompt}`}
        className="toks"
      >
        <Tokens told={told} colours={colours} here={here} query={query} />
      </div>
      {is_ended ? null : (
        <span className="badge warn" title={CUT_OFF}>
          cut off
        </span>
      )}
      <span className="told-numbers">
        <span title="score">
          {isTaskScore ? <ScoreSign score={score} /> : null}
          <span className="visually-hidden">score</span> {formatNumber(score)}
        </span>
        <span title="mean advantage of its tokens">
          A<span className="visually-hidden">dvantage</span> {formatSigned(advantage)}
        </span>
        <span className="soft">
          {length} {length === 1 ? 'token' : 'tokens'}
        </span>
      </span>
    </li>
  )
}

function FoundIn({ text, query }: { readonly text: string; readonly query: string }) {
  return <Marked text={text} marks={matchesIn(text, query)} />
}

/** How many responses a group has, and how many a search has left. */
function countWords({ responses: { length }, whole }: Bundle): string {
  if (length < whole.length) return `${length} of ${whole.length} responses match`
  return `${length} ${length === 1 ? 'response' : 'responses'}`
}

/** Prompts, one of them open. */
export function BundleItem(props: {
  bundle: Bundle
  isOpen: boolean
  /** Responses that are drawn. */
  drawn: number
  colours: Colours
  query: string
  cursor: { readonly place: number; readonly t: number }
  /** What stands below the response of the cursor. */
  readout?: ReactNode
  onOpen: (open: boolean) => void
  onMore: () => void
}) {
  const { bundle, isOpen, drawn, colours, query, cursor, readout, onOpen, onMore } = props
  const { prompt, responses, whole } = bundle
  // Of the whole group, whatever is searched for.
  const scores = whole.map(({ score }) => score)
  const isEqual = scores.every((score) => score === scores[0])
  const list = (
    <ol className="told-list">
      {responses.slice(0, drawn).map((told) => (
        <Fragment key={told.place}>
          <Response
            told={told}
            number={numberIn(bundle, told)}
            colours={colours}
            here={told.place === cursor.place ? cursor.t : undefined}
            withPrompt={prompt === undefined}
            query={query}
          />
          {told.place === cursor.place ? readout : null}
        </Fragment>
      ))}
      {drawn < responses.length ? (
        <li>
          <button type="button" data-testid="more-responses" onClick={onMore}>
            {responses.length - drawn} more
          </button>
        </li>
      ) : null}
    </ol>
  )
  if (prompt === undefined) return <li className="bundle">{list}</li>
  return (
    <li className="bundle" data-testid="bundle">
      <button
        type="button"
        className="plain bundle-head"
        aria-expanded={isOpen}
        onClick={() => onOpen(!isOpen)}
      >
        <span className="bundle-arrow" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <b className={`response ${proseClass(prompt)}`}>
          <FoundIn text={shownText(prompt)} query={query} />
        </b>
        <span className="soft">answer {shownText(responses[0].ground_truth)}</span>
        <span className="bundle-says">
          {countWords(bundle)},{' '}
          {isEqual ? `all ${formatNumber(scores[0])}` : `mean score ${formatNumber(mean(scores))}`}
        </span>
      </button>
      {isOpen ? list : null}
    </li>
  )
}
